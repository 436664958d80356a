import type { StoaEvent } from '../api/types.ts';
import { time } from '../format.ts';
import { useWords } from '../words/words.tsx';
import { Badge, Table } from './basics.tsx';

// Events of the server, the newest first.
export function EventTable({ events }: { events: readonly StoaEvent[] | undefined }) {
  const { t, locale } = useWords();
  const tones = { info: 'plain', warning: 'warn', critical: 'bad' } as const;
  return (
    <Table<StoaEvent>
      caption={t.health.events}
      rows={events === undefined ? undefined : [...events].reverse()}
      rowKey={(event) => String(event.sequence)}
      empty={t.health.noEvents}
      columns={[
        { key: 'time', head: t.common.time, cell: (event) => time(event.time, locale) },
        { key: 'severity', head: t.health.severity, cell: (event) => <Badge tone={tones[event.severity] ?? 'plain'}>{t.health.severities[event.severity] ?? event.severity}</Badge> },
        { key: 'path', head: t.common.path, cell: (event) => event.path },
        { key: 'message', head: t.health.message, cell: (event) => <EventText event={event} />, names: true },
      ]}
    />
  );
}

// In the words of the language, if it has some for the kind; else as the server says it.
function EventText({ event }: { event: StoaEvent }) {
  const { t } = useWords();
  const said = t.health.eventTexts[event.what]?.(event.facts);
  return (
    <span className="sentence" lang={said === undefined ? 'en' : undefined}>
      {said ?? event.message}
    </span>
  );
}
