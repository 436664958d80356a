import { useEffect, useState } from 'react';
import { useLoad } from '../api/load.ts';
import type { Activity, EventList, Status } from '../api/types.ts';
import { bytes, bytesPerSecond, count, duration, microseconds, percent, perSecond } from '../format.ts';
import { Meter, Notice, Page, Panel, Problem, Table } from '../parts/basics.tsx';
import { EventTable } from '../parts/event_table.tsx';
import { LineChart } from '../parts/line_chart.tsx';
import { sampleOf } from '../rates.ts';
import type { DoorRates, Sample } from '../rates.ts';
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
  const sum = (of: (door: DoorRates) => number) => (now?.doors ?? []).reduce((total, door) => total + of(door), 0);
  const capacity = activity.data?.capacity;
  const usage = status.data?.volume.usage;
  const doors = activity.data?.doors.map((door) => door.name) ?? [];
  const times = samples.map((sample) => sample.at);
  const line = (door: string, of: (rates: DoorRates) => number | null) =>
    samples.map((sample) => {
      const found = sample.doors.find((other) => other.name === door);
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
        <Tile title={t.overview.reading} value={now === undefined ? '–' : bytesPerSecond(sum((door) => door.read), locale)} more={t.overview.allDoors} />
        <Tile title={t.overview.writing} value={now === undefined ? '–' : bytesPerSecond(sum((door) => door.written), locale)} more={t.overview.allDoors} />
        <Tile title={t.overview.operations} value={now === undefined ? '–' : perSecond(sum((door) => door.operations), locale)} more={started > 0 ? t.overview.upFor(duration(started, locale)) : ''} />
      </div>
      <div className="charts">
        <Panel title={t.overview.throughput}>
          <LineChart
            title={t.overview.perSecond}
            summary={t.overview.throughputSummary(bytesPerSecond(sum((door) => door.read), locale), bytesPerSecond(sum((door) => door.written), locale))}
            times={times}
            lines={doors.flatMap((door) => [
              { name: `${door} ${t.overview.read}`, values: line(door, (rates) => rates.read) },
              { name: `${door} ${t.overview.written}`, values: line(door, (rates) => rates.written) },
            ])}
            text={(value) => bytesPerSecond(value, locale)}
          />
        </Panel>
        <Panel title={t.overview.iops}>
          <LineChart
            title={t.overview.perSecond}
            summary={perSecond(sum((door) => door.operations), locale)}
            times={times}
            lines={doors.flatMap((door) => [
              { name: door, values: line(door, (rates) => rates.operations) },
              { name: `${door} ${t.overview.errors}`, values: line(door, (rates) => rates.errors) },
            ])}
            text={(value) => perSecond(value, locale)}
          />
        </Panel>
        <Panel title={t.overview.latency}>
          <LineChart
            title={t.overview.latencyTitle}
            summary={(now?.doors ?? []).map((door) => `${door.name} p99 ${microseconds(door.p99, locale)}`).join(', ')}
            times={times}
            lines={doors.flatMap((door) => [
              { name: `${door} p50`, values: line(door, (rates) => rates.p50) },
              { name: `${door} p99`, values: line(door, (rates) => rates.p99) },
            ])}
            text={(value) => microseconds(value, locale)}
          />
        </Panel>
      </div>
      <Panel title={t.overview.doorsNow}>
        <Table<DoorRates>
          caption={t.overview.doorsNow}
          rows={now?.doors}
          error={activity.error}
          rowKey={(door) => door.name}
          empty={t.overview.noDoors}
          columns={[
            { key: 'name', head: t.overview.door, cell: (door) => door.name, names: true },
            { key: 'address', head: t.overview.address, cell: (door) => status.data?.doors.find((other) => other.name === door.name)?.address ?? '' },
            { key: 'read', head: t.overview.reading, cell: (door) => bytesPerSecond(door.read, locale), numeric: true },
            { key: 'written', head: t.overview.writing, cell: (door) => bytesPerSecond(door.written, locale), numeric: true },
            { key: 'operations', head: t.overview.operations, cell: (door) => perSecond(door.operations, locale), numeric: true },
            { key: 'errors', head: t.overview.errors, cell: (door) => perSecond(door.errors, locale), numeric: true },
            { key: 'p50', head: 'p50', cell: (door) => microseconds(door.p50, locale), numeric: true },
            { key: 'p99', head: 'p99', cell: (door) => microseconds(door.p99, locale), numeric: true },
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
