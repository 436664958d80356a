import { useEffect, useState } from 'react';
import { useLoad } from '../api/load.ts';
import type { Activity, EventList, Status } from '../api/types.ts';
import { bytes, bytesPerSecond, count, duration, microseconds, percent, perSecond } from '../format.ts';
import { Meter, Notice, Page, Panel, Problem, Table } from '../parts/basics.tsx';
import { EventTable } from '../parts/event_table.tsx';
import { LineChart } from '../parts/line_chart.tsx';
import { sampleOf } from '../rates.ts';
import type { ProtocolRates, Sample } from '../rates.ts';
import { hrefOf } from '../route.ts';
import { useWords } from '../words/words.tsx';

const kEveryMs = 2000;
const kSamples = 150; // five minutes

// Kept while other pages are looked at; a gap in time is a gap in the lines.
const kept: { last: Activity | undefined; samples: readonly Sample[] } = { last: undefined, samples: [] };

function useSamples(activity: Activity | undefined): readonly Sample[] {
  const [samples, setSamples] = useState(kept.samples);
  useEffect(() => {
    if (activity === undefined || activity === kept.last) return;
    const sample = kept.last === undefined ? null : sampleOf(kept.last, activity);
    kept.last = activity;
    if (sample !== null) kept.samples = [...kept.samples, sample].slice(-kSamples);
    setSamples(kept.samples);
  }, [activity]);
  return samples;
}

export function Overview() {
  const { t, locale } = useWords();
  const activity = useLoad<Activity>('/v1/activity', kEveryMs);
  const status = useLoad<Status>('/v1/status', 10_000);
  const events = useLoad<EventList>('/v1/events', 10_000);
  const samples = useSamples(activity.data);
  const now = samples[samples.length - 1];
  const sum = (of: (protocol: ProtocolRates) => number) => (now?.protocols ?? []).reduce((total, protocol) => total + of(protocol), 0);
  const capacity = activity.data?.capacity;
  const usage = status.data?.volume.usage;
  const protocols = activity.data?.protocols.map((protocol) => protocol.name) ?? [];
  const times = samples.map((sample) => sample.at);
  const line = (protocol: string, of: (rates: ProtocolRates) => number | null) =>
    samples.map((sample) => {
      const found = sample.protocols.find((other) => other.name === protocol);
      return found === undefined ? null : of(found);
    });
  const started = status.data === undefined ? 0 : (Date.now() - Date.parse(status.data.started)) / 1000;

  return (
    <Page title={t.pages.overview} intro={t.overview.intro}>
      <Problem error={activity.error ?? status.error} />
      {status.data?.healthy === false && (
        <Notice tone="bad" alert>
          {t.overview.damaged} <a href={hrefOf('health')}>{t.pages.health}</a>
        </Notice>
      )}
      <div className="tiles">
        <div className="tile" role="group" aria-label={t.overview.capacity}>
          <h2>{t.overview.capacity}</h2>
          <p className="big">{capacity === undefined ? '–' : bytes(capacity.used, locale)}</p>
          {capacity !== undefined && (
            <Meter
              part={capacity.used}
              whole={capacity.total}
              label={t.overview.capacity}
              text={t.overview.capacityText(percent(capacity.used, capacity.total, locale), bytes(capacity.free, locale), bytes(capacity.total, locale))}
            />
          )}
          {capacity !== undefined && capacity.available < capacity.free && <p className="muted">{t.overview.quotaLeaves(bytes(capacity.available, locale))}</p>}
        </div>
        <Tile title={t.overview.held} value={usage === undefined ? '–' : bytes(usage.bytes, locale)} more={usage === undefined ? '' : t.overview.heldIn(count(usage.files, locale), count(usage.directories, locale))} />
        <Tile title={t.overview.reading} value={now === undefined ? '–' : bytesPerSecond(sum((protocol) => protocol.read), locale)} more={t.overview.allProtocols} />
        <Tile title={t.overview.writing} value={now === undefined ? '–' : bytesPerSecond(sum((protocol) => protocol.written), locale)} more={t.overview.allProtocols} />
        <Tile title={t.overview.operations} value={now === undefined ? '–' : perSecond(sum((protocol) => protocol.operations), locale)} more={started > 0 ? t.overview.upFor(duration(started, locale)) : ''} />
      </div>
      <div className="charts">
        <Panel title={t.overview.throughput}>
          <LineChart
            title={t.overview.perSecond}
            summary={t.overview.throughputSummary(bytesPerSecond(sum((protocol) => protocol.read), locale), bytesPerSecond(sum((protocol) => protocol.written), locale))}
            times={times}
            lines={protocols.flatMap((protocol) => [
              { name: `${protocol} ${t.overview.read}`, values: line(protocol, (rates) => rates.read) },
              { name: `${protocol} ${t.overview.written}`, values: line(protocol, (rates) => rates.written) },
            ])}
            text={(value) => bytesPerSecond(value, locale)}
          />
        </Panel>
        <Panel title={t.overview.iops}>
          <LineChart
            title={t.overview.perSecond}
            summary={perSecond(sum((protocol) => protocol.operations), locale)}
            times={times}
            lines={protocols.flatMap((protocol) => [
              { name: protocol, values: line(protocol, (rates) => rates.operations) },
              { name: `${protocol} ${t.overview.errors}`, values: line(protocol, (rates) => rates.errors) },
            ])}
            text={(value) => perSecond(value, locale)}
          />
        </Panel>
        <Panel title={t.overview.latency}>
          <LineChart
            title={t.overview.latencyTitle}
            summary={(now?.protocols ?? []).map((protocol) => `${protocol.name} p99 ${microseconds(protocol.p99, locale)}`).join(', ')}
            times={times}
            lines={protocols.flatMap((protocol) => [
              { name: `${protocol} p50`, values: line(protocol, (rates) => rates.p50) },
              { name: `${protocol} p99`, values: line(protocol, (rates) => rates.p99) },
            ])}
            text={(value) => microseconds(value, locale)}
          />
        </Panel>
      </div>
      <Panel title={t.overview.protocolsNow}>
        <Table<ProtocolRates>
          caption={t.overview.protocolsNow}
          rows={now?.protocols}
          error={activity.error}
          rowKey={(protocol) => protocol.name}
          empty={t.overview.noProtocols}
          columns={[
            { key: 'name', head: t.overview.protocol, cell: (protocol) => protocol.name, names: true },
            { key: 'address', head: t.overview.address, cell: (protocol) => status.data?.protocols.find((other) => other.name === protocol.name)?.address ?? '' },
            { key: 'read', head: t.overview.reading, cell: (protocol) => bytesPerSecond(protocol.read, locale), numeric: true },
            { key: 'written', head: t.overview.writing, cell: (protocol) => bytesPerSecond(protocol.written, locale), numeric: true },
            { key: 'operations', head: t.overview.operations, cell: (protocol) => perSecond(protocol.operations, locale), numeric: true },
            { key: 'errors', head: t.overview.errors, cell: (protocol) => perSecond(protocol.errors, locale), numeric: true },
            { key: 'p50', head: 'p50', cell: (protocol) => microseconds(protocol.p50, locale), numeric: true },
            { key: 'p99', head: 'p99', cell: (protocol) => microseconds(protocol.p99, locale), numeric: true },
          ]}
        />
      </Panel>
      {events.data !== undefined && (
        <Panel title={t.health.events} actions={<a href={hrefOf('health')}>{t.common.all}</a>}>
          <EventTable events={events.data.events.slice(-5)} />
        </Panel>
      )}
    </Page>
  );
}

function Tile({ title, value, more }: { title: string; value: string; more: string }) {
  return (
    <div className="tile" role="group" aria-label={title}>
      <h2>{title}</h2>
      <p className="big">{value}</p>
      <p className="muted">{more}</p>
    </div>
  );
}
