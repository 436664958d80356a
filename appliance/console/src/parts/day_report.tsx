// The report that the audit log makes of a day.
import type { ReactNode } from 'react';
import type { Actor, DayReport, Growth, UserBytes, UserCount } from '../api/types.ts';
import { bytes, count } from '../format.ts';
import { useWords } from '../words/words.tsx';
import { Facts, Table } from './basics.tsx';

// Refusals by a protocol itself have no user.
const nameOf = (who: Actor | null) => who?.name ?? String(who?.uid ?? '–');

// With its sign, so that growth differs from a rest.
function signed(value: number, text: (value: number) => string): string {
  if (value === 0) return '0';
  return value > 0 ? `+${text(value)}` : `−${text(-value)}`;
}

export function DayReportView({ report }: { report: DayReport }) {
  const { t, locale } = useWords();
  const grown = (growth: Growth | null) =>
    growth === null ? t.report.unknown : t.report.growthText(signed(growth.bytes, (n) => bytes(n, locale)), signed(growth.files, (n) => count(n, locale)));
  const operations = Object.entries(report.operations).sort(([, a], [, b]) => b - a);
  return (
    <>
      <Facts
        facts={[
          [t.audit.records, count(report.records, locale)],
          [t.report.lost, count(report.lost, locale)],
          [t.report.growth, grown(report.growth)],
          // A report of an older version has neither bytes by user nor directories.
          ...(report.written === undefined ? [] : ([[t.report.written, bytes(report.written.total, locale)]] as const)),
          ...(report.read === undefined ? [] : ([[t.report.read, bytes(report.read.total, locale)]] as const)),
          [t.report.deletes, count(report.deletes.total, locale)],
          [t.report.denials, count(report.denials.total, locale)],
        ]}
      />
      <div className="columns">
        <Part title={t.report.operations}>
          <Table<(typeof operations)[number]>
            caption={t.report.operations}
            rows={operations}
            rowKey={([name]) => name}
            empty={t.report.nothing}
            columns={[
              { key: 'operation', head: t.audit.operation, cell: ([name]) => name, names: true },
              { key: 'count', head: t.report.count, cell: ([, number]) => count(number, locale), numeric: true },
            ]}
          />
        </Part>
        <Counts title={t.report.users} rows={report.users} />
        <Counts title={t.report.deletesBy} rows={report.deletes.users} />
        <Counts title={t.report.denialsBy} rows={report.denials.users} />
        {report.written !== undefined && <Bytes title={t.report.writtenBy} rows={report.written.users} />}
        {report.read !== undefined && <Bytes title={t.report.readBy} rows={report.read.users} />}
      </div>
      {report.directories !== undefined && report.directories !== null && (
        <Part title={t.report.directories(count(report.directories.total, locale))}>
          <Table
            caption={t.report.directories(count(report.directories.total, locale))}
            rows={report.directories.most}
            rowKey={(one) => one.path_base64 ?? one.path}
            empty={t.report.nothing}
            columns={[
              { key: 'path', head: t.common.path, cell: (one) => one.path, names: true },
              { key: 'growth', head: t.report.growth, cell: (one) => (one.growth === null ? t.report.newInList : grown(one.growth)) },
              { key: 'bytes', head: t.quotas.bytes, cell: (one) => bytes(one.bytes, locale), numeric: true },
              { key: 'files', head: t.quotas.files, cell: (one) => count(one.files, locale), numeric: true },
            ]}
          />
        </Part>
      )}
    </>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="part">
      <h3>{title}</h3>
      {children}
    </div>
  );
}

// One number for each user.
function ByUser<Row extends { user: Actor | null }>({ title, head, rows, value }: { title: string; head: string; rows: readonly Row[]; value: (row: Row) => string }) {
  const { t } = useWords();
  return (
    <Part title={title}>
      <Table<Row>
        caption={title}
        rows={rows}
        rowKey={(row) => nameOf(row.user)}
        empty={t.report.nothing}
        columns={[
          { key: 'user', head: t.audit.user, cell: (row) => nameOf(row.user), names: true },
          { key: 'value', head, cell: value, numeric: true },
        ]}
      />
    </Part>
  );
}

function Counts({ title, rows }: { title: string; rows: readonly UserCount[] }) {
  const { t, locale } = useWords();
  return <ByUser title={title} head={t.report.count} rows={rows} value={(row) => count(row.count, locale)} />;
}

function Bytes({ title, rows }: { title: string; rows: readonly UserBytes[] }) {
  const { t, locale } = useWords();
  return <ByUser title={title} head={t.quotas.bytes} rows={rows} value={(row) => bytes(row.bytes, locale)} />;
}
