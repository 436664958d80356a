import { useState } from 'react';
import { useAction, useAll, useLoad, usePages } from '../api/load.ts';
import { useCall } from '../api/session.tsx';
import type { Group, Key, User } from '../api/types.ts';
import { parseCount } from '../format.ts';
import { Badge, Button, Check, Code, Modal, Notice, Problem, Table, TextField, useSay } from '../parts/basics.tsx';
import { ChangeButton, ListPage, Pager, RecordDialog, RemoveButton, RemoveDialog, RowButton } from '../parts/records.tsx';
import { useWords } from '../words/words.tsx';

const urlOf = (user: User) => `/v1/users/${encodeURIComponent(user.name)}`;

export function Users() {
  const { t } = useWords();
  const { rows, error, reload, pager } = usePages<User, 'users'>('/v1/users', 'users');
  const groups = useAll<Group, 'groups'>('/v1/groups', 'groups');
  const [editing, setEditing] = useState<User | 'new'>();
  const [leaving, setLeaving] = useState<User>();
  const [keysOf, setKeysOf] = useState<User>();
  const [fresh, setFresh] = useState<{ name: string; key: Key }>();
  const groupName = (gid: number) => groups?.find((group) => group.gid === gid)?.name ?? String(gid);
  return (
    <ListPage<User>
      title={t.pages.users}
      intro={t.users.intro}
      actions={
        <Button kind="primary" onClick={() => setEditing('new')}>
          {t.users.create}
        </Button>
      }
      list={t.users.list}
      rows={rows}
      error={error}
      rowKey={(user) => user.name}
      empty={t.users.none}
      columns={[
        { key: 'name', head: t.common.name, cell: (user) => user.name, names: true },
        { key: 'uid', head: 'uid', cell: (user) => user.uid, numeric: true },
        { key: 'gid', head: t.users.group, cell: (user) => groupName(user.gid) },
        { key: 'groups', head: t.users.groups, cell: (user) => user.groups.map(groupName).join(', ') || '–' },
        { key: 'principal', head: t.users.principal, cell: (user) => user.principal || '–' },
        { key: 'keys', head: t.users.keys, cell: (user) => `${user.keys.filter((key) => key.enabled).length} / ${user.keys.length}`, numeric: true },
        {
          key: 'do',
          head: '',
          cell: (user) => (
            <div className="row-actions">
              <RowButton says={t.users.keysOf(user.name)} onClick={() => setKeysOf(user)}>
                {t.users.keys}
              </RowButton>
              <ChangeButton name={user.name} onClick={() => setEditing(user)} />
              <RemoveButton name={user.name} onClick={() => setLeaving(user)} />
            </div>
          ),
        },
      ]}
    >
      <Pager {...pager} />
      {editing !== undefined && (
        <UserForm
          user={editing === 'new' ? undefined : editing}
          onClose={() => setEditing(undefined)}
          onDone={(made) => {
            reload();
            if (made?.key !== undefined) setFresh({ name: made.name, key: made.key });
          }}
        />
      )}
      {fresh !== undefined && (
        <Modal title={t.users.keysOf(fresh.name)} onClose={() => setFresh(undefined)}>
          <div className="dialog-body">
            <Notice tone="good">{t.users.keyMade}</Notice>
            <KeyText value={fresh.key} />
          </div>
        </Modal>
      )}
      {keysOf !== undefined && <Keys user={keysOf} onClose={() => setKeysOf(undefined)} onChange={reload} />}
      {leaving !== undefined && (
        <RemoveDialog name={leaving.name} url={urlOf(leaving)} reload={reload} onClose={() => setLeaving(undefined)}>
          {t.users.removeWarning}
        </RemoveDialog>
      )}
    </ListPage>
  );
}

// A number as one, anything else unchanged: the server reports errors.
const numberOr = (text: string) => parseCount(text) ?? text;

function UserForm({ user, onClose, onDone }: { user: User | undefined; onClose(): void; onDone(made?: User & { key?: Key }): void }) {
  const { t } = useWords();
  const call = useCall();
  const [name, setName] = useState(user?.name ?? '');
  const [uid, setUid] = useState(user === undefined ? '' : String(user.uid));
  const [gid, setGid] = useState(user === undefined ? '' : String(user.gid));
  const [groups, setGroups] = useState(user?.groups.join(', ') ?? '');
  const [principal, setPrincipal] = useState(user?.principal ?? '');
  const [withKey, setWithKey] = useState(true);
  const work = async () => {
    const list = groups.split(/[\s,]+/).filter((word) => word !== '').map(numberOr);
    const ids = { ...(uid === '' ? {} : { uid: numberOr(uid) }), ...(gid === '' ? {} : { gid: numberOr(gid) }), groups: list, principal };
    if (user === undefined) onDone(await call('POST', '/v1/users', { name, ...ids, create_key: withKey }));
    else {
      await call('PATCH', urlOf(user), ids);
      onDone();
    }
  };
  return (
    <RecordDialog create={t.users.create} name={user?.name} typed={name} work={work} onClose={onClose}>
      {user === undefined && <TextField label={t.common.name} value={name} onValue={setName} required />}
      <TextField label="uid" hint={t.common.numberHint} value={uid} onValue={setUid} inputMode="numeric" />
      <TextField label="gid" hint={t.users.gidHint} value={gid} onValue={setGid} inputMode="numeric" />
      <TextField label={t.users.groups} hint={t.users.groupsHint} value={groups} onValue={setGroups} />
      <TextField label={t.users.principal} hint={t.users.principalHint} value={principal} onValue={setPrincipal} />
      {user === undefined && <Check label={t.users.withKey} checked={withKey} onValue={setWithKey} />}
    </RecordDialog>
  );
}

function KeyText({ value }: { value: Key }) {
  const { t } = useWords();
  return <Code label={t.users.key} text={`AWS_ACCESS_KEY_ID=${value.access_key}\nAWS_SECRET_ACCESS_KEY=${value.secret_key}`} />;
}

function Keys({ user, onClose, onChange }: { user: User; onClose(): void; onChange(): void }) {
  const { t } = useWords();
  const call = useCall();
  const say = useSay();
  const { data, error, reload } = useLoad<{ keys: Key[] }>(`${urlOf(user)}/keys`);
  const [shown, setShown] = useState<string>();
  const [asked, setAsked] = useState<string>(); // user to remove after one more click
  const action = useAction();
  const change = async (what: string, work: () => Promise<unknown>) => {
    if (await action.run(work)) say(what);
    setAsked(undefined);
    reload();
    onChange();
  };
  const keyUrl = (key: Key) => `${urlOf(user)}/keys/${encodeURIComponent(key.access_key)}`;
  const open = data?.keys.find((key) => key.access_key === shown);
  return (
    <Modal title={t.users.keysOf(user.name)} onClose={onClose} wide>
      <div className="dialog-body">
        <Problem error={error ?? action.error} />
        <Table<Key>
          caption={t.users.keysOf(user.name)}
          rows={data?.keys}
          error={error}
          rowKey={(key) => key.access_key}
          empty={t.users.noKeys}
          columns={[
            { key: 'key', head: t.users.accessKey, cell: (key) => <code>{key.access_key}</code>, names: true },
            { key: 'state', head: t.health.state, cell: (key) => <Badge tone={key.enabled ? 'good' : 'warn'}>{key.enabled ? t.users.enabled : t.users.disabled}</Badge> },
            {
              key: 'do',
              head: '',
              cell: (key) => (
                <div className="row-actions">
                  <Button kind="quiet" onClick={() => setShown(shown === key.access_key ? undefined : key.access_key)} aria-label={`${shown === key.access_key ? t.users.hide : t.users.show}: ${key.access_key}`}>
                    {shown === key.access_key ? t.users.hide : t.users.show}
                  </Button>
                  <Button kind="quiet" disabled={action.busy} onClick={() => void change(t.common.saved(key.access_key), () => call('PATCH', keyUrl(key), { enabled: !key.enabled }))} aria-label={`${key.enabled ? t.users.disable : t.users.enable}: ${key.access_key}`}>
                    {key.enabled ? t.users.disable : t.users.enable}
                  </Button>
                  {asked === key.access_key ? (
                    <Button kind="danger" disabled={action.busy} onClick={() => void change(t.common.removed(key.access_key), () => call('DELETE', keyUrl(key)))}>
                      {t.users.reallyRemove}
                    </Button>
                  ) : (
                    <RemoveButton name={key.access_key} onClick={() => setAsked(key.access_key)} />
                  )}
                </div>
              ),
            },
          ]}
        />
        {open !== undefined && <KeyText value={open} />}
      </div>
      <div className="dialog-foot">
        <Button
          kind="primary"
          disabled={action.busy}
          onClick={() => void change(t.users.keyMade, async () => setShown((await call<Key>('POST', `${urlOf(user)}/keys`, {})).access_key))}
        >
          {t.users.addKey}
        </Button>
      </div>
    </Modal>
  );
}
