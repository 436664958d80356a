import { useState } from 'react';
import type { FormEvent } from 'react';
import { useAction, useLoad, usePages } from '../api/load.ts';
import { useCall } from '../api/session.tsx';
import { withQuery } from '../api/client.ts';
import { auditClasses } from '../api/types.ts';
import type { AuditClass, AuditList, AuditPolicy, AuditRecord, DayReport, Verification } from '../api/types.ts';
import { count, time } from '../format.ts';
import { Badge, Button, Check, Facts, FormDialog, Notice, Page, Panel, Problem, Table, TextField } from '../parts/basics.tsx';
import { DayReportView } from '../parts/day_report.tsx';
import { PolicyList } from '../parts/policy_list.tsx';
import { InheritDialog, Pager, PlaceForm } from '../parts/records.tsx';
import { useWords } from '../words/words.tsx';

interface Search {
  path: string;
  user: string;
  operation: string;
  protocol: string;
  result: string;
  from: string;
  to: string;
}
const nothing: Search = { path: '', user: '', operation: '', protocol: '', result: '', from: '', to: '' };

// The time of an input field is that of the browser; the server wants UTC.
function utc(local: string): string {
  const at = new Date(local);
  return local === '' || Number.isNaN(at.getTime()) ? local : at.toISOString().replace(/\.\d+Z$/, 'Z');
}

export function Audit() {
  const { t, locale } = useWords();
  const [typed, setTyped] = useState(nothing);
  const [asked, setAsked] = useState(nothing);
  const [after, setAfter] = useState<readonly string[]>([]);
  const { data, error } = useLoad<AuditList>(withQuery('/v1/audit', { ...asked, from: utc(asked.from), to: utc(asked.to), limit: 100, after: after[after.length - 1] }));
  const search = (event: FormEvent) => {
    event.preventDefault();
    setAfter([]);
    setAsked({ ...typed });
  };
  const field = (key: keyof Search, label: string, type = 'text') => (
    <TextField label={label} type={type} value={typed[key]} onValue={(value) => setTyped({ ...typed, [key]: value })} />
  );
  if (error?.notOffered) {
    return (
      <Page title={t.pages.audit} intro={t.audit.intro}>
        <Problem error={error} />
      </Page>
    );
  }
  return (
    <Page title={t.pages.audit} intro={t.audit.intro}>
      <Panel title={t.audit.search}>
        <form onSubmit={search} className="search" role="search">
          {field('path', t.common.path)}
          {field('user', t.audit.user)}
          {field('operation', t.audit.operation)}
          {field('protocol', t.overview.protocol)}
          {field('result', t.audit.result)}
          {field('from', t.audit.from, 'datetime-local')}
          {field('to', t.audit.to, 'datetime-local')}
          <Button type="submit" kind="primary">
            {t.audit.submit}
          </Button>
        </form>
        <Problem error={error} />
        {error === undefined && (
          <Table<AuditRecord>
            caption={t.audit.records}
            rows={data?.records}
            rowKey={(record) => String(record.cursor)}
            empty={t.audit.none}
            columns={[
              { key: 'time', head: t.common.time, cell: (record) => time(record.time, locale) },
              { key: 'user', head: t.audit.user, cell: (record) => record.user?.name ?? (record.claimed === undefined ? String(record.user?.uid ?? '–') : t.audit.claimed(record.claimed)) },
              { key: 'operation', head: t.audit.operation, cell: (record) => record.operation },
              { key: 'path', head: t.common.path, cell: (record) => record.request ?? (record.to_path ? `${record.path} → ${record.to_path}` : record.path), names: true },
              { key: 'protocol', head: t.overview.protocol, cell: (record) => record.protocol },
              { key: 'client', head: t.pages.clients, cell: (record) => record.client },
              { key: 'result', head: t.audit.result, cell: (record) => <Badge tone={record.result === 'ok' ? 'good' : 'warn'}>{record.result}</Badge> },
            ]}
          />
        )}
        <Pager begins={after} next={data?.next} onTurn={setAfter} />
      </Panel>
      <ReportOfDay />
      <Policy />
      <Verify />
    </Page>
  );
}

function ReportOfDay() {
  const { t } = useWords();
  const [day, setDay] = useState(() => new Date().toISOString().slice(0, 10));
  const { data, error } = useLoad<DayReport>(/^\d{4}-\d\d-\d\d$/.test(day) ? withQuery('/v1/audit/report', { day }) : null);
  return (
    <Panel title={t.audit.report} actions={<TextField label={t.audit.day} type="date" value={day} onValue={setDay} />}>
      {error?.code === 'not_found' ? <p className="empty">{t.audit.nothingThatDay}</p> : <Problem error={error} />}
      {data !== undefined && <DayReportView report={data} />}
    </Panel>
  );
}

function Policy() {
  const { t } = useWords();
  const call = useCall();
  const [path, setPath] = useState('/');
  const { data, error, reload: reloadOne } = useLoad<AuditPolicy>(withQuery('/v1/audit/policy', { path }));
  const all = usePages<Pick<AuditPolicy, 'path' | 'classes'>, 'policies'>('/v1/audit/policies', 'policies');
  const classText = (classes: readonly AuditClass[]) => classes.map((one) => t.audit.classNames[one] ?? one).join(', ') || t.audit.noClasses;
  const reload = () => {
    reloadOne();
    all.reload();
  };
  const [editing, setEditing] = useState<readonly AuditClass[]>();
  const [removing, setRemoving] = useState(false);
  return (
    <Panel
      title={t.audit.policy}
      actions={
        data !== undefined && (
          <>
            {data.set_on === path && <Button onClick={() => setRemoving(true)}>{t.recycle.inherit}</Button>}
            <Button onClick={() => setEditing(data.classes)}>{t.common.change}</Button>
          </>
        )
      }
    >
      <PlaceForm path={path} onPath={setPath} />
      <Problem error={error} />
      {data !== undefined && (
        <Facts
          facts={[
            [t.recycle.setOn, data.set_on ?? t.recycle.nowhere],
            [t.audit.classes, classText(data.classes)],
          ]}
        />
      )}
      <PolicyList list={all} says={(policy) => classText(policy.classes)} onPath={setPath} />
      {editing !== undefined && (
        <FormDialog
          title={t.audit.policyOf(path)}
          submit={t.common.save}
          done={t.common.saved(path)}
          work={() => call('PUT', withQuery('/v1/audit/policy', { path }), { classes: editing }).then(reload)}
          onClose={() => setEditing(undefined)}
        >
          <fieldset>
            <legend>{t.audit.classes}</legend>
            {auditClasses.map((one) => (
              <Check key={one} label={t.audit.classNames[one]} checked={editing.includes(one)} onValue={(on) => setEditing(on ? [...editing, one] : editing.filter((other) => other !== one))} />
            ))}
          </fieldset>
        </FormDialog>
      )}
      {removing && <InheritDialog path={path} url={withQuery('/v1/audit/policy', { path })} reload={reload} onClose={() => setRemoving(false)} />}
    </Panel>
  );
}

function Verify() {
  const { t, locale } = useWords();
  const call = useCall();
  const action = useAction();
  const [found, setFound] = useState<Verification>();
  return (
    <Panel
      title={t.audit.verify}
      actions={
        <Button disabled={action.busy} onClick={() => void action.run(async () => setFound(await call<Verification>('POST', '/v1/audit/verify', {})))}>
          {t.audit.verifyNow}
        </Button>
      }
    >
      <p className="muted">{t.audit.verifyText}</p>
      <Problem error={action.error} />
      {found !== undefined && (
        <Notice tone={found.ok ? 'good' : 'bad'} alert>
          {found.ok ? t.audit.verified(count(found.records, locale), count(found.days, locale)) : (found.problem ?? t.audit.broken)}
        </Notice>
      )}
    </Panel>
  );
}
