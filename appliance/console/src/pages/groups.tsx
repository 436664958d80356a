import { useState } from 'react';
import { usePages } from '../api/load.ts';
import { useCall } from '../api/session.tsx';
import type { Group } from '../api/types.ts';
import { parseCount } from '../format.ts';
import { Button, TextField } from '../parts/basics.tsx';
import { ListPage, Pager, RecordDialog, RemoveButton, RemoveDialog } from '../parts/records.tsx';
import { useWords } from '../words/words.tsx';

export function Groups() {
  const { t } = useWords();
  const call = useCall();
  const { rows, error, reload, pager } = usePages<Group, 'groups'>('/v1/groups', 'groups');
  const [making, setMaking] = useState(false);
  const [leaving, setLeaving] = useState<Group>();
  const [name, setName] = useState('');
  const [gid, setGid] = useState('');
  const begin = () => {
    setName('');
    setGid('');
    setMaking(true);
  };
  return (
    <ListPage<Group>
      title={t.pages.groups}
      intro={t.groups.intro}
      actions={
        <Button kind="primary" onClick={begin}>
          {t.groups.create}
        </Button>
      }
      list={t.groups.list}
      rows={rows}
      error={error}
      rowKey={(group) => group.name}
      empty={t.groups.none}
      columns={[
        { key: 'name', head: t.common.name, cell: (group) => group.name, names: true },
        { key: 'gid', head: 'gid', cell: (group) => group.gid, numeric: true },
        { key: 'sid', head: 'SID', cell: (group) => <code>{group.sid}</code> },
        { key: 'do', head: '', cell: (group) => <RemoveButton name={group.name} onClick={() => setLeaving(group)} /> },
      ]}
    >
      <Pager {...pager} />
      {making && (
        <RecordDialog
          create={t.groups.create}
          name={undefined}
          typed={name}
          work={() => call('POST', '/v1/groups', { name, ...(gid === '' ? {} : { gid: parseCount(gid) ?? gid }) }).then(reload)}
          onClose={() => setMaking(false)}
        >
          <TextField label={t.common.name} value={name} onValue={setName} required />
          <TextField label="gid" hint={t.common.numberHint} value={gid} onValue={setGid} inputMode="numeric" />
        </RecordDialog>
      )}
      {leaving !== undefined && (
        <RemoveDialog name={leaving.name} url={`/v1/groups/${encodeURIComponent(leaving.name)}`} reload={reload} onClose={() => setLeaving(undefined)}>
          {t.groups.removeWarning}
        </RemoveDialog>
      )}
    </ListPage>
  );
}
