import { useLoad } from '../api/load.ts';
import type { DataDirectory, Protocol, EventList, Status } from '../api/types.ts';
import { bytes, percent, time } from '../format.ts';
import { Badge, Facts, Meter, Notice, Page, Panel, Problem, Table } from '../parts/basics.tsx';
import { EventTable } from '../parts/event_table.tsx';
import { FilledQuotas } from '../parts/filled_quotas.tsx';
import { useWords } from '../words/words.tsx';

export function Health() {
  const { t, locale } = useWords();
  const { data, error } = useLoad<Status>('/v1/status', 5000);
  const events = useLoad<EventList>('/v1/events', 5000);
  return (
    <Page title={t.pages.health} intro={t.health.intro}>
      <Problem error={error} />
      {data !== undefined && (
        <>
          <Panel title={t.health.state}>
            <Facts
              facts={[
                [t.health.state, <Badge tone={data.healthy ? 'good' : 'bad'}>{data.healthy ? t.health.healthy : t.health.damaged}</Badge>],
                [t.health.version, data.version],
                [t.health.started, time(data.started, locale)],
                [t.health.process, String(data.pid)],
                [t.health.dataFolder, data.data],
                [t.health.engine, data.engine],
                [t.health.volume, `${data.volume.name} (${data.volume.id})`],
                [t.health.created, time(data.volume.created, locale)],
              ]}
            />
          </Panel>
          {data.problems.length > 0 && (
            <Panel title={t.health.problems}>
              {data.problems.map((problem) => (
                <Notice key={problem.kind + problem.path} tone="bad">
                  {t.healthProblems[problem.kind]?.(problem.facts) ?? <span lang="en">{problem.text}</span>}
                  {problem.path !== '' && ` (${problem.path})`}
                  <br />
                  {t.problemRemedies[problem.kind]}
                </Notice>
              ))}
            </Panel>
          )}
          {data.damage.length > 0 && (
            <Panel title={t.health.damage}>
              {data.damage.map((range) => (
                <Notice key={range.text} tone="bad">
                  {t.health.damagedRange(range.path === '' ? range.id : range.path, range.offset, range.offset + range.length)}
                </Notice>
              ))}
            </Panel>
          )}
          <FilledQuotas />
          <Panel title={t.health.protocols}>
            <Table<Protocol>
              caption={t.health.protocols}
              rows={data.protocols}
              rowKey={(protocol) => protocol.name}
              empty=""
              columns={[
                { key: 'name', head: t.overview.protocol, cell: (protocol) => protocol.name, names: true },
                { key: 'open', head: t.health.state, cell: (protocol) => <Badge tone={protocol.open ? 'good' : 'plain'}>{protocol.open ? t.health.open : t.health.closed}</Badge> },
                { key: 'address', head: t.overview.address, cell: (protocol) => protocol.address },
              ]}
            />
          </Panel>
          <Panel title={t.health.folders}>
            <Table<DataDirectory>
              caption={t.health.folders}
              rows={data.data_directories}
              rowKey={(folder) => folder.path}
              empty=""
              columns={[
                { key: 'path', head: t.common.path, cell: (folder) => folder.path, names: true },
                { key: 'state', head: t.health.state, cell: (folder) => <Badge tone={folder.ok ? 'good' : 'bad'}>{folder.ok ? t.health.works : folder.problem}</Badge> },
                {
                  key: 'space',
                  head: t.overview.capacity,
                  cell: (folder) => (
                    <Meter
                      part={folder.total - folder.free}
                      whole={folder.total}
                      label={t.overview.capacity}
                      text={t.overview.capacityText(percent(folder.total - folder.free, folder.total, locale), bytes(folder.free, locale), bytes(folder.total, locale))}
                    />
                  ),
                },
              ]}
            />
          </Panel>
        </>
      )}
      <Panel title={t.health.events}>{events.error === undefined ? <EventTable events={events.data?.events} /> : <Problem error={events.error} />}</Panel>
    </Page>
  );
}
