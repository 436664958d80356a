import { useState } from 'react';
import { useLoad, usePages } from '../api/load.ts';
import { useCall, useSession } from '../api/session.tsx';
import { withQuery } from '../api/client.ts';
import type { RecycleItem, RecycleList, RecyclePolicy, RecycleRules } from '../api/types.ts';
import { bytes, bytesText, count, parseBytes, parseCount, time } from '../format.ts';
import { Button, Check, Facts, FormDialog, Page, Panel, Problem, SelectField, Table, TextField } from '../parts/basics.tsx';
import { PolicyList } from '../parts/policy_list.tsx';
import { InheritDialog, Pager, PlaceForm, RowButton } from '../parts/records.tsx';
import { useWords } from '../words/words.tsx';

export function Recycle() {
  const { t, locale } = useWords();
  const call = useCall();
  const { current } = useSession();
  const [path, setPath] = useState(current?.who?.directory ?? '/');
  const [after, setAfter] = useState<readonly string[]>([]);
  const list = useLoad<RecycleList>(withQuery('/v1/recycle', { path, limit: 100, after: after[after.length - 1] }));
  const policy = useLoad<RecyclePolicy>(withQuery('/v1/recycle/policy', { path }));
  const policies = usePages<RecycleRules, 'policies'>('/v1/recycle/policies', 'policies');
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [restoring, setRestoring] = useState<{ item: RecycleItem; to: string }>();
  const [purging, setPurging] = useState<{ ids: string[] | null; days: string }>();
  const [editing, setEditing] = useState(false);
  const [inheriting, setInheriting] = useState(false);
  const reload = () => {
    setChosen(new Set());
    list.reload();
    policy.reload();
    policies.reload();
  };
  const go = (to: string) => {
    setAfter([]);
    setChosen(new Set());
    setPath(to);
  };
  const toggle = (id: string, on: boolean) => {
    const next = new Set(chosen);
    if (on) next.add(id);
    else next.delete(id);
    setChosen(next);
  };
  const purge = async () => {
    if (purging === undefined) return;
    const older = purging.days.trim() === '' ? undefined : Number(purging.days) * 86400;
    await call('POST', '/v1/recycle/purge', {
      path,
      ...(purging.ids === null ? {} : { ids: purging.ids }),
      ...(purging.ids !== null || older === undefined ? {} : { older_than_seconds: Number.isFinite(older) ? Math.round(older) : purging.days }),
    });
    reload();
  };
  if (list.error?.notOffered) {
    return (
      <Page title={t.pages.recycle} intro={t.recycle.intro}>
        <Problem error={list.error} />
      </Page>
    );
  }
  return (
    <Page title={t.pages.recycle} intro={t.recycle.intro}>
      <PlaceForm path={path} onPath={go} />
      <Panel
        title={t.recycle.policy}
        actions={
          policy.data !== undefined && (
            <>
              {policy.data.own && <Button onClick={() => setInheriting(true)}>{t.recycle.inherit}</Button>}
              <Button onClick={() => setEditing(true)}>{t.common.change}</Button>
            </>
          )
        }
      >
        <Problem error={policy.error} />
        {policy.data !== undefined && (
          <Facts
            facts={[
              [t.recycle.enabled, policy.data.enabled ? t.common.yes : t.common.no],
              [t.recycle.setOn, policy.data.own ? t.recycle.here : (policy.data.set_on ?? t.recycle.nowhere)],
              [t.recycle.days, policy.data.days === 0 ? t.recycle.unlimited : count(policy.data.days, locale)],
              [t.recycle.bytesMax, policy.data.bytes_max === null ? t.recycle.unlimited : bytes(policy.data.bytes_max, locale)],
              [t.recycle.restorers, t.recycle.who[policy.data.restore] ?? policy.data.restore],
              [t.recycle.counted, policy.data.counted ? t.common.yes : t.common.no],
              [t.recycle.used, t.recycle.usedText(bytes(policy.data.used?.bytes ?? 0, locale), count(policy.data.used?.items ?? 0, locale))],
            ]}
          />
        )}
        <PolicyList
          list={policies}
          says={(one) =>
            one.enabled
              ? t.recycle.keeps(
                  one.days === 0 ? t.recycle.unlimited : t.recycle.forDays(count(one.days, locale)),
                  one.bytes_max === null ? t.recycle.unlimited : bytes(one.bytes_max, locale),
                )
              : t.recycle.keepsNothing
          }
          onPath={go}
        />
      </Panel>
      <Panel
        title={t.recycle.items}
        actions={
          <>
            <Button disabled={chosen.size === 0} onClick={() => setPurging({ ids: [...chosen], days: '' })}>
              {t.recycle.purgeChosen(chosen.size)}
            </Button>
            <Button onClick={() => setPurging({ ids: null, days: '' })}>{t.recycle.purgeAll}</Button>
          </>
        }
      >
        <Problem error={list.error} />
        {list.error === undefined && (
          <Table<RecycleItem>
            caption={t.recycle.items}
            rows={list.data?.items}
            rowKey={(item) => item.id}
            empty={t.recycle.none}
            columns={[
              { key: 'choose', head: t.recycle.choose, cell: (item) => <Check label={<span className="unseen">{item.name}</span>} checked={chosen.has(item.id)} onValue={(on) => toggle(item.id, on)} /> },
              { key: 'path', head: t.common.path, cell: (item) => item.path ?? item.name, names: true },
              { key: 'type', head: t.common.kind, cell: (item) => t.browse.types[item.type as keyof typeof t.browse.types] ?? item.type },
              { key: 'bytes', head: t.browse.size, cell: (item) => bytes(item.bytes, locale), numeric: true },
              { key: 'time', head: t.recycle.deleted, cell: (item) => time(item.deleted_at, locale) },
              { key: 'by', head: t.recycle.by, cell: (item) => item.deleted_by?.user ?? String(item.deleted_by?.uid ?? '') },
              { key: 'protocol', head: t.overview.protocol, cell: (item) => item.protocol },
              { key: 'client', head: t.pages.clients, cell: (item) => item.client },
              {
                key: 'do',
                head: '',
                cell: (item) => (
                  <RowButton says={t.recycle.restoreOne(item.name)} onClick={() => setRestoring({ item, to: '' })}>
                    {t.recycle.restore}
                  </RowButton>
                ),
              },
            ]}
          />
        )}
        <Pager begins={after} next={list.data?.next} onTurn={setAfter} />
      </Panel>
      {restoring !== undefined && (
        <FormDialog
          title={t.recycle.restoreOne(restoring.item.name)}
          submit={t.recycle.restore}
          done={t.recycle.restored(restoring.item.name)}
          work={() => call('POST', '/v1/recycle/restore', { id: restoring.item.id, ...(restoring.to === '' ? {} : { to: restoring.to }) }).then(reload)}
          onClose={() => setRestoring(undefined)}
        >
          <p>{restoring.item.path === null ? t.recycle.restoreGone : t.recycle.restoreText(restoring.item.path)}</p>
          <TextField label={t.recycle.to} hint={t.recycle.toHint} value={restoring.to} onValue={(to) => setRestoring({ ...restoring, to })} placeholder={restoring.item.path ?? ''} required={restoring.item.path === null} />
        </FormDialog>
      )}
      {purging !== undefined && (
        <FormDialog title={t.recycle.purge} submit={t.recycle.purge} danger done={t.recycle.purged} work={purge} onClose={() => setPurging(undefined)}>
          <p>{purging.ids === null ? t.recycle.purgeAllText(path) : t.recycle.purgeChosenText(purging.ids.length)}</p>
          {purging.ids === null && <TextField label={t.recycle.olderThan} hint={t.recycle.olderThanHint} value={purging.days} onValue={(days) => setPurging({ ids: null, days })} inputMode="decimal" />}
        </FormDialog>
      )}
      {editing && policy.data !== undefined && <PolicyForm path={path} policy={policy.data} onClose={() => setEditing(false)} onDone={reload} />}
      {inheriting && <InheritDialog path={path} url={withQuery('/v1/recycle/policy', { path })} reload={reload} onClose={() => setInheriting(false)} />}
    </Page>
  );
}

function PolicyForm({ path, policy, onClose, onDone }: { path: string; policy: RecyclePolicy; onClose(): void; onDone(): void }) {
  const { t } = useWords();
  const call = useCall();
  const [enabled, setEnabled] = useState(policy.enabled);
  const [days, setDays] = useState(String(policy.days));
  const [most, setMost] = useState(policy.bytes_max === null ? '' : bytesText(policy.bytes_max));
  const [restore, setRestore] = useState<string>(policy.restore);
  const [counted, setCounted] = useState(policy.counted);
  const work = async () => {
    await call('PUT', withQuery('/v1/recycle/policy', { path }), {
      enabled,
      days: parseCount(days) ?? days,
      bytes_max: most.trim() === '' ? null : (parseBytes(most) ?? most),
      restore,
      counted,
    });
    onDone();
  };
  return (
    <FormDialog title={t.recycle.policyOf(path)} submit={t.common.save} done={t.common.saved(path)} work={work} onClose={onClose}>
      <Check label={t.recycle.enabledText} checked={enabled} onValue={setEnabled} />
      <TextField label={t.recycle.days} value={days} onValue={setDays} inputMode="numeric" />
      <TextField label={t.recycle.bytesMax} hint={t.quotas.sizeHint} value={most} onValue={setMost} placeholder={t.recycle.unlimited} />
      <SelectField
        label={t.recycle.restorers}
        value={restore}
        onValue={setRestore}
        options={[
          ['owner', t.recycle.who.owner],
          ['admin', t.recycle.who.admin],
        ]}
      />
      <Check label={t.recycle.countedText} checked={counted} onValue={setCounted} />
    </FormDialog>
  );
}
