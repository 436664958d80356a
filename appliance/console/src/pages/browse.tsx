import { useEffect, useState } from 'react';
import type { FormEvent } from 'react';
import { useAll, useLoad } from '../api/load.ts';
import { useSession } from '../api/session.tsx';
import type { Cause, ChildUsage, Directory, Entry, Explanation, QosClass, Held, HeldList, HeldLock, Holder, Quota, Status, UsageReply, User } from '../api/types.ts';
import { bytes, count, percent, time } from '../format.ts';
import { Badge, Button, Facts, Meter, Notice, Page, Panel, Problem, SelectField, Table, TextField } from '../parts/basics.tsx';
import { Pager } from '../parts/records.tsx';
import { TreeMap } from '../parts/tree_map.tsx';
import type { Area } from '../parts/tree_map.tsx';
import { child, ofText, parent, root, steps, text } from '../paths.ts';
import type { Path } from '../paths.ts';
import { hrefOf, useRoute } from '../route.ts';
import { useWords } from '../words/words.tsx';

const kPage = 500;

export function Browse() {
  const { t } = useWords();
  const { rest } = useRoute();
  const { current } = useSession();
  const asked = (rest.replace(/\/+$/, '') || '/') as Path;
  // The start page of an owner.
  const path = asked === root ? ofText(current?.who?.directory ?? '/') : asked;
  const [typed, setTyped] = useState(text(path));
  useEffect(() => setTyped(text(path)), [path]);
  const go = (event: FormEvent) => {
    event.preventDefault();
    window.location.hash = hrefOf('browse', ofText(typed));
  };
  return (
    <Page title={t.pages.browse} intro={t.browse.intro} place={path}>
      <nav aria-label={t.browse.where} className="crumbs">
        <ol>
          <li>
            <a href={hrefOf('browse')}>{t.browse.root}</a>
          </li>
          {steps(path).map((step) => (
            <li key={step.path}>
              <a href={hrefOf('browse', step.path)} aria-current={step.path === path ? 'location' : undefined}>
                {step.name}
              </a>
            </li>
          ))}
        </ol>
        <form onSubmit={go} className="inline">
          <TextField label={t.common.path} value={typed} onValue={setTyped} />
          <Button type="submit">{t.browse.go}</Button>
        </form>
      </nav>
      <Content key={path} path={path} />
      {/* It shows users and the directories above, which are hidden from owners. */}
      {current?.who?.role !== 'owner' && <Explain key={`explain ${path}`} path={path} />}
    </Page>
  );
}

interface Row extends Entry {
  below?: ChildUsage;
}

function Content({ path }: { path: Path }) {
  const { t, locale } = useWords();
  const [cookies, setCookies] = useState<readonly string[]>([]);
  const [by, setBy] = useState<'bytes' | 'files'>('bytes');
  const at = cookies[cookies.length - 1];
  const page = `path=${path}&limit=${kPage}${at === undefined ? '' : `&cookie=${at}`}`;
  const entries = useLoad<Directory>(`/v1/directory?${page}`);
  const usage = useLoad<UsageReply>(`/v1/usage?${page}&children=true`);
  const error = entries.error ?? usage.error;
  if (error !== undefined) return <Problem error={error} />;
  const total = usage.data?.usage;
  const seen = usage.data?.usage_counted ?? total; // by limits
  const limits = usage.data?.limits;
  const children = usage.data?.children ?? [];
  const rows: Row[] | undefined = entries.data?.entries.map((entry) => {
    const below = entry.type === 'directory' ? children.find((one) => one.name === entry.name && one.name_base64 === entry.name_base64) : undefined;
    return below === undefined ? entry : { ...entry, below };
  });
  const held = (row: Row) => row.below?.usage.bytes ?? row.size ?? 0;
  const counted = (row: Row) => (row.below === undefined ? 1 : row.below.usage.files + row.below.usage.directories);
  const sorted = rows === undefined ? undefined : [...rows].sort((a, b) => (by === 'bytes' ? held(b) - held(a) : counted(b) - counted(a)) || a.name.localeCompare(b.name));
  const sizeText = (row: Row) => (by === 'bytes' ? bytes(held(row), locale) : t.browse.countText(count(counted(row), locale)));
  const whole = total === undefined ? 0 : by === 'bytes' ? total.bytes : total.files + total.directories;

  // The largest each have an area of their own; all others share one.
  const areas: Area[] = (sorted ?? []).slice(0, 60).map((row) => ({
    key: row.id + row.name,
    name: row.type === 'directory' ? `${row.name}/` : row.name,
    size: by === 'bytes' ? held(row) : counted(row),
    text: sizeText(row),
    ...(row.type === 'directory' ? { href: hrefOf('browse', child(path, row.name, row.name_base64)) } : {}),
  }));
  const left = whole - areas.reduce((sum, area) => sum + area.size, 0);
  if (left > 0 && (sorted?.length ?? 0) > 60) {
    areas.push({ key: 'others', name: t.browse.others, size: left, text: by === 'bytes' ? bytes(left, locale) : count(left, locale) });
  }

  return (
    <>
      <Panel
        title={t.browse.holds(text(path))}
        actions={
          <SelectField
            label={t.browse.by}
            value={by}
            onValue={(value) => setBy(value === 'files' ? 'files' : 'bytes')}
            options={[
              ['bytes', t.browse.byBytes],
              ['files', t.browse.byFiles],
            ]}
          />
        }
      >
        {total !== undefined && seen !== undefined && limits !== undefined && (
          <Facts
            facts={[
              [
                t.quotas.bytes,
                limits.bytes === null ? bytes(total.bytes, locale) : <Meter part={seen.bytes} whole={limits.bytes} label={t.quotas.bytes} text={t.quotas.of(bytes(seen.bytes, locale), bytes(limits.bytes, locale))} />,
              ],
              [
                t.quotas.files,
                limits.files === null ? (
                  t.overview.heldIn(count(total.files, locale), count(total.directories, locale))
                ) : (
                  <Meter
                    part={seen.files + seen.directories}
                    whole={limits.files}
                    label={t.quotas.files}
                    text={t.quotas.of(count(seen.files + seen.directories, locale), count(limits.files, locale))}
                  />
                ),
              ],
            ]}
          />
        )}
        {areas.length > 0 && <TreeMap label={t.browse.map} areas={areas} />}
      </Panel>
      <Panel title={t.browse.entries} actions={path === root ? undefined : <a href={hrefOf('browse', parent(path))}>{t.browse.up}</a>}>
        <Table<Row>
          caption={t.browse.entries}
          rows={sorted}
          rowKey={(row) => `${row.id}/${row.name_base64 ?? row.name}`}
          empty={t.browse.empty}
          columns={[
            {
              key: 'name',
              head: t.common.name,
              names: true,
              cell: (row) => (row.type === 'directory' ? <a href={hrefOf('browse', child(path, row.name, row.name_base64))}>{row.name}/</a> : row.name),
            },
            { key: 'type', head: t.common.kind, cell: (row) => t.browse.types[row.type as keyof typeof t.browse.types] ?? row.type },
            { key: 'size', head: t.browse.size, cell: (row) => bytes(held(row), locale), numeric: true },
            { key: 'share', head: t.browse.share, cell: (row) => percent(by === 'bytes' ? held(row) : counted(row), whole, locale), numeric: true },
            { key: 'files', head: t.browse.files, cell: (row) => (row.below === undefined ? '' : count(row.below.usage.files, locale)), numeric: true },
            { key: 'mode', head: t.browse.mode, cell: (row) => <code>{row.mode ?? ''}</code> },
            { key: 'owner', head: t.browse.owner, cell: (row) => (row.uid === undefined ? '' : `${row.uid}:${row.gid ?? ''}`) },
            { key: 'mtime', head: t.browse.changed, cell: (row) => time(row.mtime, locale) },
          ]}
        />
        <Pager begins={cookies} next={entries.data?.end === false ? entries.data.next_cookie : undefined} onTurn={setCookies} />
      </Panel>
    </>
  );
}

// Access here, the limits that apply, and resources that are full or throttled.
function Explain({ path }: { path: Path }) {
  const { t, locale } = useWords();
  const users = useAll<User, 'users'>('/v1/users', 'users');
  const status = useLoad<Status>('/v1/status');
  const [user, setUser] = useState('');
  const { data, error } = useLoad<Explanation>(`/v1/explain?path=${path}${user === '' ? '' : `&user=${encodeURIComponent(user)}`}`);
  const rights = (list: readonly string[]) => list.map((right) => t.browse.rights[right as keyof typeof t.browse.rights] ?? right).join(', ') || '–';
  return (
    <Panel
      title={t.browse.explain}
      actions={<SelectField label={t.browse.forUser} value={user} onValue={setUser} options={[['', t.browse.nobody], ...(users ?? []).map((one) => [one.name, one.name] as const)]} />}
    >
      <Problem error={error} />
      {data?.causes.map((cause) => (
        <CauseNotice key={cause.what} cause={cause} />
      ))}
      {data !== undefined && (
        <Facts
          facts={[
            ...(data.access === undefined
              ? []
              : ([
                  [t.browse.granted, rights(data.access.granted)],
                  [t.browse.denied, rights(data.access.denied)],
                  ...(data.access.stopped_at === null ? [] : ([[t.browse.stoppedAt, data.access.stopped_at]] as const)),
                ] as const)),
            [t.pages.exports, data.exports.map((record) => `${record.name} (${record.protocols.join(', ')})`).join('; ') || '–'],
            [t.pages.quotas, data.quotas.length === 0 ? '–' : <QuotaLines quotas={data.quotas} />],
            [t.pages.qos, data.qos_classes.map((qosClass: QosClass) => qosClass.target).join(', ') || '–'],
            [t.browse.held.title, <HeldLines held={data.held} />],
            [t.browse.free, bytes(data.bytes_free, locale)],
            [t.health.volume, status.data?.volume.name ?? ''],
          ]}
        />
      )}
    </Panel>
  );
}

// In the words of the language, if it has some for the code; else as the server says it.
function CauseNotice({ cause: { code, parameters, what } }: { cause: Cause }) {
  const { t } = useWords();
  const said = t.causes[code]?.(parameters);
  const remedy = t.causeRemedies[code]?.(parameters);
  return (
    <Notice tone="warn">
      <strong className="said" lang={said === undefined ? 'en' : undefined}>
        {said ?? what}
      </strong>
      {remedy !== undefined && (
        <>
          {' '}
          <span>
            {t.browse.remedy} {remedy}
          </span>
        </>
      )}
    </Notice>
  );
}

// Clients that have it open, locked or cached.
function HeldLines({ held }: { held: Held }) {
  const { t } = useWords();
  const words = t.browse.held;
  const rights = (list: readonly string[]) => list.map((right) => t.browse.rights[right as keyof typeof t.browse.rights] ?? right).join(', ');
  const lock = ({ offset, length, exclusive }: HeldLock) => words.range(offset, length === null ? null : offset + length - 1, exclusive);
  const who = ({ id, name, address }: Holder) => (name === undefined ? id : `${name} (${address ?? id})`);
  const lines = <Row extends { client: Holder }>(kind: string, { total, list }: HeldList<Row>, say: (row: Row) => string) => [
    ...list.map((row) => `${kind} ${who(row.client)}: ${say(row)}`),
    ...(total > list.length ? [`${kind} ${words.more(total - list.length)}`] : []),
  ];
  const all = [
    ...lines(words.open, held.opens, ({ count, access, deny }) => `${rights(access)}${count > 1 ? ` × ${count}` : ''}${deny.length > 0 ? `; ${words.denies(rights(deny))}` : ''}`),
    ...lines(words.locked, held.locks, lock),
    ...lines(words.waits, held.waiting, lock),
    ...lines(words.cached, held.leases, ({ kind, recalled }) => `${words.kinds[kind]}${recalled ? `, ${words.recalled}` : ''}`),
  ];
  if (all.length === 0) return '–';
  return (
    <ul className="plain">
      {all.map((line, index) => (
        <li key={index}>{line}</li>
      ))}
    </ul>
  );
}

function QuotaLines({ quotas }: { quotas: readonly (Quota & { full: boolean })[] }) {
  const { t, locale } = useWords();
  const whose = ({ path, uid, user, gid, group }: Quota) => {
    if (uid !== undefined) return t.quotas.target.user(path, user ?? String(uid));
    return gid === undefined ? path : t.quotas.target.group(path, group ?? String(gid));
  };
  return (
    <ul className="plain">
      {quotas.map((quota) => (
        <li key={whose(quota)}>
          {whose(quota)}: {t.quotas.of(bytes(quota.usage_counted.bytes, locale), quota.limits.bytes === null ? '∞' : bytes(quota.limits.bytes, locale))} {quota.full && <Badge tone="bad">{t.browse.full}</Badge>}
        </li>
      ))}
    </ul>
  );
}
