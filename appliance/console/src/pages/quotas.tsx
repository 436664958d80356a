import { useState } from 'react';
import { useLoad } from '../api/load.ts';
import { useCall } from '../api/session.tsx';
import { withQuery } from '../api/client.ts';
import { usageClasses } from '../api/types.ts';
import type { Limits, OwnerList, Quota, QuotaList } from '../api/types.ts';
import { bytes, bytesText, count, duration, parseBytes, parseCount, time } from '../format.ts';
import { Badge, Button, Check, FormDialog, Meter, Modal, Page, Panel, Problem, SelectField, Table, TextField } from '../parts/basics.tsx';
import { Pager, RemoveDialog } from '../parts/records.tsx';
import { ofText } from '../paths.ts';
import { hrefOf } from '../route.ts';
import { useWords } from '../words/words.tsx';

type Scope = 'directory' | 'children' | 'user' | 'group';
interface Target {
  path: string;
  scope: Scope;
  who: string;
}
const queryOf = ({ path, scope, who }: Target) =>
  withQuery('/v1/quota', { path, children: scope === 'children', user: scope === 'user' ? who : undefined, group: scope === 'group' ? who : undefined });

export function Quotas() {
  const { t, locale } = useWords();
  const call = useCall();
  const [after, setAfter] = useState<readonly string[]>([]);
  const { data, error, reload } = useLoad<QuotaList>(withQuery('/v1/quotas', { limit: 200, after: after[after.length - 1] }), 10_000);
  const [setting, setSetting] = useState<{ target: Target; limits?: Limits; fixed: boolean }>();
  const [leaving, setLeaving] = useState<Target>();
  const [owners, setOwners] = useState<string>();
  const [counting, setCounting] = useState<{ path: string; on: boolean }>();
  const targetText = (target: Target) => t.quotas.target[target.scope](target.path, target.who);
  const openForm = (quota: Quota) =>
    setSetting({ target: { path: quota.path, scope: 'directory', who: '' }, limits: quota.limits, fixed: true });
  return (
    <Page
      title={t.pages.quotas}
      intro={t.quotas.intro}
      actions={
        <>
          <Button onClick={() => setCounting({ path: '', on: true })}>{t.quotas.countOwners}</Button>
          <Button kind="primary" onClick={() => setSetting({ target: { path: '', scope: 'directory', who: '' }, fixed: false })}>
            {t.quotas.set}
          </Button>
        </>
      }
    >
      <Problem error={error} />
      <Panel title={t.quotas.list}>
        <Table<Quota>
          caption={t.quotas.list}
          rows={data?.quotas}
          error={error}
          rowKey={(quota) => quota.directory_id ?? quota.path}
          empty={t.quotas.none}
          columns={[
            { key: 'path', head: t.common.path, cell: (quota) => <a href={hrefOf('browse', ofText(quota.path))}>{quota.path}</a>, names: true },
            {
              key: 'bytes',
              head: t.quotas.bytes,
              cell: (quota) => (
                <>
                  <BytesUse quota={quota} />
                  <Counted quota={quota} />
                </>
              ),
            },
            { key: 'files', head: t.quotas.files, cell: (quota) => <FilesUse quota={quota} /> },
            { key: 'soft', head: t.quotas.soft, cell: (quota) => <Soft quota={quota} /> },
            { key: 'children', head: t.quotas.children, cell: (quota) => (quota.children === null || quota.children === undefined ? '–' : limitsText(quota.children, locale)) },
            {
              key: 'do',
              head: '',
              cell: (quota) => (
                <div className="row-actions">
                  <Button kind="quiet" onClick={() => openForm(quota)} aria-label={t.common.changeOne(quota.path)}>
                    {t.common.change}
                  </Button>
                  {quota.children !== null && quota.children !== undefined && (
                    <Button kind="quiet" onClick={() => setLeaving({ path: quota.path, scope: 'children', who: '' })} aria-label={t.quotas.removeChildren(quota.path)}>
                      {t.quotas.removeChildrenShort}
                    </Button>
                  )}
                  {quota.counts_owners === true && (
                    <Button kind="quiet" onClick={() => setOwners(quota.path)} aria-label={t.quotas.ownersOf(quota.path)}>
                      {t.quotas.owners}
                    </Button>
                  )}
                  {quota.counting !== null && quota.counting !== undefined && (
                    <Badge tone="warn">{t.quotas.beingCounted(count(quota.counting.looked_at, locale), count(quota.counting.in_all, locale))}</Badge>
                  )}
                  {(hasAny(quota.limits) || (leavesOut(quota.limits) && quota.counts_owners !== true)) && (
                    <Button kind="quiet" onClick={() => setLeaving({ path: quota.path, scope: 'directory', who: '' })} aria-label={t.common.removeOne(quota.path)}>
                      {t.common.remove}
                    </Button>
                  )}
                </div>
              ),
            },
          ]}
        />
        <Pager begins={after} next={data?.next_after} onTurn={setAfter} />
      </Panel>
      {setting !== undefined && <QuotaForm {...setting} onClose={() => setSetting(undefined)} onDone={reload} />}
      {owners !== undefined && (
        <Owners
          path={owners}
          onClose={() => setOwners(undefined)}
          onChange={(target, limits) => {
            setOwners(undefined);
            setSetting({ target, limits, fixed: true });
          }}
        />
      )}
      {counting !== undefined && (
        <FormDialog
          title={t.quotas.countOwners}
          submit={t.common.save}
          done={t.common.saved(counting.path)}
          work={() => call('PUT', withQuery('/v1/quota/owners', { path: counting.path }), { counted: counting.on }).then(reload)}
          onClose={() => setCounting(undefined)}
        >
          <p>{t.quotas.countHint}</p>
          <TextField label={t.exports.directory} value={counting.path} onValue={(path) => setCounting({ ...counting, path })} placeholder="/scratch" required />
          <SelectField
            label={t.quotas.counting}
            value={counting.on ? 'on' : 'off'}
            onValue={(value) => setCounting({ ...counting, on: value === 'on' })}
            options={[
              ['on', t.quotas.countOn],
              ['off', t.quotas.countOff],
            ]}
          />
        </FormDialog>
      )}
      {leaving !== undefined && (
        <RemoveDialog name={targetText(leaving)} url={queryOf(leaving)} reload={reload} onClose={() => setLeaving(undefined)}>
          {t.quotas.removeWarning}
        </RemoveDialog>
      )}
    </Page>
  );
}

const hasAny = (limits: Limits) => [limits.bytes, limits.files, limits.soft_bytes, limits.soft_files].some((limit) => limit !== null);

const leavesOut = (limits: Limits) => limits.count !== undefined && limits.count.length < usageClasses.length;

function limitsText(limits: Limits, locale: string): string {
  const parts = [];
  if (limits.bytes !== null) parts.push(bytes(limits.bytes, locale));
  if (limits.files !== null) parts.push(`${count(limits.files, locale)} #`);
  if (limits.soft_bytes !== null) parts.push(`~${bytes(limits.soft_bytes, locale)}`);
  if (limits.soft_files !== null) parts.push(`~${count(limits.soft_files, locale)} #`);
  return parts.join(', ') || '–';
}

// Which classes count, where not all do, and how much there is of each.
function Counted({ quota }: { quota: Quota }) {
  const { t, locale } = useWords();
  const classes = quota.limits.count ?? usageClasses;
  const held = usageClasses.filter((name) => quota.usage_by_class[name].bytes > 0);
  return (
    <>
      {classes.length < usageClasses.length && (
        <div className="muted">
          {t.quotas.counted}: {classes.length === 0 ? t.quotas.onlyLive : classes.map((name) => t.quotas.classes[name]).join(', ')}
        </div>
      )}
      {held.map((name) => (
        <div key={name} className="muted">
          {t.quotas.holds(t.quotas.classes[name], bytes(quota.usage_by_class[name].bytes, locale))}
        </div>
      ))}
    </>
  );
}

function BytesUse({ quota }: { quota: Quota }) {
  const { t, locale } = useWords();
  const { limits, usage_counted: usage } = quota;
  const used = bytes(usage.bytes, locale);
  if (limits.bytes === null) return <>{used}</>;
  return <Meter part={usage.bytes} whole={limits.bytes} label={t.quotas.bytes} text={t.quotas.of(used, bytes(limits.bytes, locale))} />;
}

function FilesUse({ quota }: { quota: Quota }) {
  const { t, locale } = useWords();
  const { limits, usage_counted: usage } = quota;
  const used = usage.files + usage.directories;
  if (limits.files === null) return <>{count(used, locale)}</>;
  return <Meter part={used} whole={limits.files} label={t.quotas.files} text={t.quotas.of(count(used, locale), count(limits.files, locale))} />;
}

function Soft({ quota }: { quota: Quota }) {
  const { t, locale } = useWords();
  const { limits, over_soft_since: over } = quota;
  if (limits.soft_bytes === null && limits.soft_files === null) return <>–</>;
  const since = over.bytes ?? over.files;
  return (
    <>
      {[limits.soft_bytes === null ? '' : bytes(limits.soft_bytes, locale), limits.soft_files === null ? '' : `${count(limits.soft_files, locale)} #`].filter((text) => text !== '').join(', ')}{' '}
      <span className="muted">{t.quotas.graceOf(duration(limits.grace_seconds, locale))}</span>{' '}
      {since !== null && <Badge tone="warn">{t.quotas.passedSince(time(since, locale))}</Badge>}
    </>
  );
}

interface FormProps {
  target: Target;
  limits?: Limits;
  fixed: boolean; // the target was chosen already
  onClose(): void;
  onDone(): void;
}
function QuotaForm({ target, limits, fixed, onClose, onDone }: FormProps) {
  const { t } = useWords();
  const call = useCall();
  const [path, setPath] = useState(target.path);
  const [scope, setScope] = useState<Scope>(target.scope);
  const [who, setWho] = useState(target.who);
  const size = (value: number | null | undefined) => (value === null || value === undefined ? '' : bytesText(value));
  const number = (value: number | null | undefined) => (value === null || value === undefined ? '' : String(value));
  const [hardBytes, setHardBytes] = useState(size(limits?.bytes));
  const [softBytes, setSoftBytes] = useState(size(limits?.soft_bytes));
  const [hardFiles, setHardFiles] = useState(number(limits?.files));
  const [softFiles, setSoftFiles] = useState(number(limits?.soft_files));
  const [days, setDays] = useState(limits === undefined ? '7' : String(limits.grace_seconds / 86400));
  const [counted, setCounted] = useState<readonly string[]>(limits?.count ?? usageClasses);
  const ofDirectory = scope === 'directory' || scope === 'children';
  const sizeOf = (text: string) => (text.trim() === '' ? null : (parseBytes(text) ?? text));
  const countOf = (text: string) => (text.trim() === '' ? null : (parseCount(text) ?? text));
  const work = async () => {
    const grace = Number(days) * 86400;
    await call('PUT', queryOf({ path, scope, who }), {
      bytes: sizeOf(hardBytes),
      files: countOf(hardFiles),
      soft_bytes: sizeOf(softBytes),
      soft_files: countOf(softFiles),
      grace_seconds: Number.isFinite(grace) ? Math.round(grace) : days,
      ...(ofDirectory ? { count: counted } : {}),
    });
    onDone();
  };
  return (
    <FormDialog title={t.quotas.set} submit={t.common.save} done={t.common.saved(path)} work={work} onClose={onClose}>
      <TextField label={t.exports.directory} value={path} onValue={setPath} required readOnly={fixed} placeholder="/team" />
      <SelectField
        label={t.quotas.scope}
        value={scope}
        onValue={(value) => setScope(value as Scope)}
        disabled={fixed && target.scope !== 'directory'}
        options={[
          ['directory', t.quotas.scopes.directory],
          ['children', t.quotas.scopes.children],
          ['user', t.quotas.scopes.user],
          ['group', t.quotas.scopes.group],
        ]}
      />
      {(scope === 'user' || scope === 'group') && <TextField label={t.quotas.scopes[scope]} hint={t.quotas.whoHint} value={who} onValue={setWho} required />}
      <div className="pair">
        <TextField label={t.quotas.hardBytes} hint={t.quotas.sizeHint} value={hardBytes} onValue={setHardBytes} placeholder="10GiB" />
        <TextField label={t.quotas.softBytes} value={softBytes} onValue={setSoftBytes} placeholder="9GiB" />
        <TextField label={t.quotas.hardFiles} value={hardFiles} onValue={setHardFiles} inputMode="numeric" />
        <TextField label={t.quotas.softFiles} value={softFiles} onValue={setSoftFiles} inputMode="numeric" />
      </div>
      <TextField label={t.quotas.grace} hint={t.quotas.graceHint} value={days} onValue={setDays} inputMode="decimal" />
      {ofDirectory && (
        <>
          {usageClasses.map((name) => (
            <Check
              key={name}
              label={t.quotas.countClass[name]}
              checked={counted.includes(name)}
              onValue={(on) => setCounted(usageClasses.filter((one) => (one === name ? on : counted.includes(one))))}
            />
          ))}
          <p className="muted">{t.quotas.countClassHint}</p>
        </>
      )}
    </FormDialog>
  );
}

function Owners({ path, onClose, onChange }: { path: string; onClose(): void; onChange(target: Target, limits: Limits): void }) {
  const { t, locale } = useWords();
  const [after, setAfter] = useState<string>();
  const { data, error } = useLoad<OwnerList>(withQuery('/v1/quota/owners', { path, limit: 200, after }));
  const whoOf = (quota: Quota): Target =>
    quota.uid !== undefined ? { path, scope: 'user', who: quota.user ?? String(quota.uid) } : { path, scope: 'group', who: quota.group ?? String(quota.gid) };
  return (
    <Modal title={t.quotas.ownersOf(path)} onClose={onClose} wide>
      <div className="dialog-body">
        <Problem error={error} />
        {data !== undefined && data.counting !== null && (
          <p>{t.quotas.preliminary(count(data.counting.looked_at, locale), count(data.counting.in_all, locale))}</p>
        )}
        <Table<Quota>
          caption={t.quotas.ownersOf(path)}
          rows={data?.owners}
          error={error}
          rowKey={(quota) => `${whoOf(quota).scope}:${quota.uid ?? quota.gid ?? ''}`}
          empty={t.quotas.noOwners}
          columns={[
            { key: 'who', head: t.common.name, cell: (quota) => whoOf(quota).who, names: true },
            { key: 'kind', head: t.common.kind, cell: (quota) => t.quotas.scopes[whoOf(quota).scope] },
            { key: 'bytes', head: t.quotas.bytes, cell: (quota) => <BytesUse quota={quota} /> },
            { key: 'files', head: t.quotas.files, cell: (quota) => <FilesUse quota={quota} /> },
            {
              key: 'do',
              head: '',
              cell: (quota) => (
                <Button kind="quiet" onClick={() => onChange(whoOf(quota), quota.limits)} aria-label={t.common.changeOne(whoOf(quota).who)}>
                  {t.common.change}
                </Button>
              ),
            },
          ]}
        />
        {data?.next_after !== undefined && <Button onClick={() => setAfter(data.next_after)}>{t.common.more}</Button>}
      </div>
    </Modal>
  );
}
