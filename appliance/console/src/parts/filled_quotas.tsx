// Quotas that are full or will be soon, and exceeded soft limits: the first things for an administrator to look at.
import { useState } from 'react';
import { withQuery } from '../api/client.ts';
import { useLoad } from '../api/load.ts';
import type { Quota, QuotaList } from '../api/types.ts';
import { bytes, count, time } from '../format.ts';
import { hrefOf } from '../route.ts';
import { useWords } from '../words/words.tsx';
import { Badge, Meter, Panel, Problem, Table } from './basics.tsx';
import { Pager } from './records.tsx';

const nearlyPercent = 90;
const keyOf = ({ directory_id, path, uid, gid }: Quota) => `${directory_id ?? path} ${uid ?? ''} ${gid ?? ''}`;
const filesOf = ({ usage_counted: usage }: Quota) => usage.files + usage.directories;
const isFull = (used: number, limit: number | null) => limit !== null && used >= limit;
const isNearlyFull = (used: number, limit: number | null) => limit !== null && used * 100 >= limit * nearlyPercent;

// Until when a soft limit may be passed, or was.
function graceEnd(quota: Quota): Date | undefined {
  const begins = [quota.over_soft_since.bytes, quota.over_soft_since.files].filter((since) => since !== null);
  if (begins.length === 0) return undefined;
  return new Date(Math.min(...begins.map((since) => Date.parse(since))) + quota.limits.grace_seconds * 1000);
}

export function FilledQuotas() {
  const { t } = useWords();
  const [after, setAfter] = useState<readonly string[]>([]);
  const whose = ({ path, uid, user, gid, group }: Quota) => {
    if (uid !== undefined) return t.quotas.target.user(path, user ?? String(uid));
    return gid === undefined ? path : t.quotas.target.group(path, group ?? String(gid));
  };
  const { data, error } = useLoad<QuotaList>(withQuery('/v1/quotas', { filled: nearlyPercent, limit: 50, after: after[after.length - 1] }), 30_000);
  return (
    <Panel title={t.health.quotas}>
      <Problem error={error} />
      <Table<Quota>
        caption={t.health.quotas}
        rows={data?.quotas}
        error={error}
        rowKey={keyOf}
        empty={data?.truncated === true ? t.health.noQuotasHere : t.health.noQuotas(nearlyPercent)}
        columns={[
          {
            key: 'path',
            head: t.common.path,
            cell: (quota) => (
              <a href={hrefOf('quotas')} aria-label={t.health.toQuotas(whose(quota))}>
                {whose(quota)}
              </a>
            ),
            names: true,
          },
          { key: 'state', head: t.health.state, cell: (quota) => <State quota={quota} /> },
          { key: 'use', head: t.health.use, cell: (quota) => <Use quota={quota} /> },
        ]}
      />
      <Pager begins={after} next={data?.next_after} onTurn={setAfter} />
    </Panel>
  );
}

function State({ quota }: { quota: Quota }) {
  const { t, locale } = useWords();
  const { limits, usage_counted: usage } = quota;
  const files = filesOf(quota);
  const until = graceEnd(quota);
  return (
    <>
      {isFull(usage.bytes, limits.bytes) || isFull(files, limits.files) ? (
        <Badge tone="bad">{t.health.full}</Badge>
      ) : (
        (isNearlyFull(usage.bytes, limits.bytes) || isNearlyFull(files, limits.files)) && <Badge tone="warn">{t.health.nearlyFull}</Badge>
      )}{' '}
      {until !== undefined && (
        <Badge tone={until.getTime() <= Date.now() ? 'bad' : 'warn'}>
          {(until.getTime() <= Date.now() ? t.health.refusedSince : t.health.refusedFrom)(time(until.toISOString(), locale))}
        </Badge>
      )}
    </>
  );
}

// Against each hard limit, or else the soft one that is passed.
function Use({ quota }: { quota: Quota }) {
  const { t, locale } = useWords();
  const { limits, usage_counted: usage } = quota;
  const kinds = [
    { label: t.quotas.bytes, used: usage.bytes, limit: limits.bytes ?? limits.soft_bytes, text: (n: number) => bytes(n, locale) },
    { label: t.quotas.files, used: filesOf(quota), limit: limits.files ?? limits.soft_files, text: (n: number) => count(n, locale) },
  ];
  return (
    <>
      {kinds.map(
        ({ label, used, limit, text }) => limit !== null && <Meter key={label} part={used} whole={Math.max(limit, 1)} label={label} text={`${label}: ${t.quotas.of(text(used), text(limit))}`} />,
      )}
    </>
  );
}
