import { useState } from 'react';
import { useAll, useLoad, usePages } from '../api/load.ts';
import { useCall } from '../api/session.tsx';
import type { ClientRule, Export, Status, User } from '../api/types.ts';
import { Badge, Button, Check, Code, Field, Modal, Notice, Problem, SelectField, Tabs, TextField } from '../parts/basics.tsx';
import { ChangeButton, ListPage, Pager, RecordDialog, RemoveButton, RemoveDialog, RowButton } from '../parts/records.tsx';
import { recipes } from '../mount.ts';
import { ofText } from '../paths.ts';
import { hrefOf } from '../route.ts';
import { useWords } from '../words/words.tsx';

const urlOf = (record: Export) => `/v1/exports/${encodeURIComponent(record.name)}`;

export function Exports() {
  const { t } = useWords();
  const { rows, error, reload, pager } = usePages<Export, 'exports'>('/v1/exports', 'exports');
  const [editing, setEditing] = useState<Export | 'new'>();
  const [leaving, setLeaving] = useState<Export>();
  const [connecting, setConnecting] = useState<Export>();
  return (
    <ListPage<Export>
      title={t.pages.exports}
      intro={t.exports.intro}
      actions={
        <Button kind="primary" onClick={() => setEditing('new')}>
          {t.exports.create}
        </Button>
      }
      list={t.exports.list}
      rows={rows}
      error={error}
      rowKey={(record) => String(record.id)}
      empty={t.exports.none}
      columns={[
        { key: 'name', head: t.common.name, cell: (record) => record.name, names: true },
        { key: 'path', head: t.common.path, cell: (record) => <a href={hrefOf('browse', ofText(record.path))}>{record.path}</a> },
        { key: 'protocols', head: t.exports.protocols, cell: (record) => record.protocols.map((protocol) => <Badge key={protocol}>{protocol}</Badge>) },
        { key: 'access', head: t.exports.access, cell: (record) => (record.read_only ? t.exports.readOnly : t.exports.readWrite) },
        { key: 'clients', head: t.exports.clients, cell: (record) => record.clients.map(ruleText).join(', ') || t.exports.anyClient },
        { key: 'security', head: t.exports.security, cell: (record) => record.security.join(', ') || t.exports.allSecurity },
        { key: 'owner', head: t.exports.owner, cell: (record) => record.owner || '–' },
        {
          key: 'do',
          head: '',
          cell: (record) => (
            <div className="row-actions">
              <RowButton says={t.exports.connectTo(record.name)} onClick={() => setConnecting(record)}>
                {t.exports.connect}
              </RowButton>
              <ChangeButton name={record.name} onClick={() => setEditing(record)} />
              <RemoveButton name={record.name} onClick={() => setLeaving(record)} />
            </div>
          ),
        },
      ]}
    >
      <Pager {...pager} />
      {editing !== undefined && <ExportForm record={editing === 'new' ? undefined : editing} onClose={() => setEditing(undefined)} onDone={reload} />}
      {connecting !== undefined && <Connect record={connecting} onClose={() => setConnecting(undefined)} />}
      {leaving !== undefined && (
        <RemoveDialog name={leaving.name} url={urlOf(leaving)} reload={reload} onClose={() => setLeaving(undefined)}>
          {t.exports.removeWarning}
        </RemoveDialog>
      )}
    </ListPage>
  );
}

function ruleText(rule: ClientRule): string {
  const words = [rule.network, rule.read_only ? 'ro' : 'rw'];
  if (rule.squash !== 'root') words.push(`squash=${rule.squash}`);
  return words.join(' ');
}

// One rule: "10.0.0.0/8 rw squash=none". Words the server does not know are for it to refuse.
function readRule(line: string, old: readonly ClientRule[]): Record<string, unknown> {
  const [network = '', ...words] = line.trim().split(/[\s,]+/);
  const squash = words.find((word) => word.startsWith('squash='))?.slice(7) ?? 'root';
  const unknown = words.filter((word) => word !== 'rw' && word !== 'ro' && !word.startsWith('squash='));
  const before = old.find((rule) => rule.network === network);
  return {
    network: unknown.length === 0 ? network : line.trim(),
    read_only: words.includes('ro'),
    squash,
    ...(before?.anonymous_uid === undefined ? {} : { anonymous_uid: before.anonymous_uid }),
    ...(before?.anonymous_gid === undefined ? {} : { anonymous_gid: before.anonymous_gid }),
  };
}

const flavors = ['sys', 'krb5', 'krb5i', 'krb5p'] as const;

function ExportForm({ record, onClose, onDone }: { record: Export | undefined; onClose(): void; onDone(): void }) {
  const { t } = useWords();
  const call = useCall();
  const users = useAll<User, 'users'>('/v1/users', 'users');
  const [name, setName] = useState(record?.name ?? '');
  const [path, setPath] = useState('');
  const [make, setMake] = useState(true);
  const [nfs, setNfs] = useState(record?.protocols.includes('nfs') ?? true);
  const [s3, setS3] = useState(record?.protocols.includes('s3') ?? true);
  const [native, setNative] = useState(record?.protocols.includes('native') ?? false);
  const [nativeTls, setNativeTls] = useState(record?.native_tls === 'required');
  const [readOnly, setReadOnly] = useState(record?.read_only ?? false);
  const [clients, setClients] = useState(record === undefined ? '10.0.0.0/8 rw' : record.clients.map(ruleText).join('\n'));
  const [owner, setOwner] = useState(record?.owner ?? '');
  const [security, setSecurity] = useState<readonly string[]>(record?.security ?? []);

  const work = async () => {
    const rules = clients.split('\n').filter((line) => line.trim() !== '').map((line) => readRule(line, record?.clients ?? []));
    const shared = { protocols: [...(nfs ? ['nfs'] : []), ...(s3 ? ['s3'] : []), ...(native ? ['native'] : [])], read_only: readOnly, clients: rules, security, native_tls: nativeTls ? 'required' : 'offered', owner };
    if (record === undefined) {
      // The directory belongs to the owner; otherwise only root could write there.
      const user = users?.find((one) => one.name === owner);
      const ids = make && user !== undefined ? { uid: user.uid, gid: user.gid } : {};
      await call('POST', '/v1/exports', { name, ...(path === '' ? {} : { path }), create_directory: make, ...ids, ...shared });
    } else {
      await call('PATCH', urlOf(record), { ...shared, ...(name === record.name ? {} : { name }) });
    }
    onDone();
  };
  const owners = [['', t.exports.noOwner] as const, ...(users ?? []).map((user) => [user.name, user.name] as const)];
  return (
    <RecordDialog create={t.exports.create} name={record?.name} typed={name} work={work} onClose={onClose}>
      <TextField label={t.common.name} hint={t.exports.nameHint} value={name} onValue={setName} required />
      {record === undefined && (
        <>
          <TextField label={t.exports.directory} hint={t.exports.directoryHint} value={path} onValue={setPath} placeholder={`/${name}`} />
          <Check label={t.exports.make} checked={make} onValue={setMake} />
        </>
      )}
      <fieldset>
        <legend>{t.exports.protocols}</legend>
        <Check label="NFS" checked={nfs} onValue={setNfs} />
        <Check label="S3" checked={s3} onValue={setS3} />
        <Check label={t.exports.native} checked={native} onValue={setNative} />
        {native && <Check label={t.exports.nativeTls} checked={nativeTls} onValue={setNativeTls} />}
        <Check label={t.exports.readOnly} checked={readOnly} onValue={setReadOnly} />
      </fieldset>
      <Field label={t.exports.clients} hint={t.exports.clientsHint}>
        {(ids) => <textarea {...ids} rows={3} value={clients} spellCheck={false} onChange={(event) => setClients(event.target.value)} />}
      </Field>
      <SelectField label={t.exports.owner} hint={t.exports.ownerHint} value={owner} onValue={setOwner} options={owners} />
      <fieldset>
        <legend>{t.exports.security}</legend>
        <p className="hint">{t.exports.securityHint}</p>
        {flavors.map((flavor) => (
          <Check
            key={flavor}
            label={flavor}
            checked={security.includes(flavor)}
            onValue={(on) => setSecurity(on ? [...security, flavor] : security.filter((other) => other !== flavor))}
          />
        ))}
      </fieldset>
    </RecordDialog>
  );
}

function Connect({ record, onClose }: { record: Export; onClose(): void }) {
  const { t } = useWords();
  const { data, error } = useLoad<Status>('/v1/status');
  const found = data === undefined ? [] : recipes(record, data.protocols, window.location.hostname);
  return (
    <Modal title={t.exports.connectTo(record.name)} onClose={onClose} wide>
      <div className="dialog-body">
        <Problem error={error} />
        {data !== undefined && found.length === 0 && <Notice tone="warn">{t.exports.noProtocolOpen}</Notice>}
        {found.length > 0 && (
          <Tabs
            label={t.exports.systems}
            tabs={found.map((recipe) => ({
              key: recipe.system,
              title: t.exports.recipes[recipe.system].title,
              body: (
                <>
                  <p>{t.exports.recipes[recipe.system].hint}</p>
                  <Code text={recipe.lines} label={t.exports.recipes[recipe.system].title} />
                </>
              ),
            }))}
          />
        )}
      </div>
    </Modal>
  );
}
