import { useState } from 'react';
import { usePages } from '../api/load.ts';
import { useCall } from '../api/session.tsx';
import { roles } from '../api/types.ts';
import type { Role, Token } from '../api/types.ts';
import { time } from '../format.ts';
import { Badge, Button, Code, Modal, Notice, Page, Panel, Problem, SelectField, Table, TextField } from '../parts/basics.tsx';
import { Pager, RecordDialog, RemoveButton, RemoveDialog } from '../parts/records.tsx';
import { useWords } from '../words/words.tsx';

export function Tokens() {
  const { t, locale } = useWords();
  const { rows, error, reload, pager } = usePages<Token, 'tokens'>('/v1/tokens', 'tokens');
  const [making, setMaking] = useState(false);
  const [fresh, setFresh] = useState<{ name: string; token: string }>();
  const [leaving, setLeaving] = useState<Token>();
  return (
    <Page
      title={t.pages.tokens}
      intro={t.tokens.intro}
      actions={
        error === undefined && (
          <Button kind="primary" onClick={() => setMaking(true)}>
            {t.tokens.create}
          </Button>
        )
      }
    >
      <Problem error={error} />
      {error === undefined && (
        <Panel title={t.tokens.list}>
          <Table<Token>
            caption={t.tokens.list}
            rows={rows}
            rowKey={(token) => token.name}
            empty={t.tokens.none}
            columns={[
              { key: 'name', head: t.common.name, cell: (token) => token.name, names: true },
              { key: 'role', head: t.tokens.role, cell: (token) => <Badge>{t.tokens.roles[token.role] ?? token.role}</Badge> },
              { key: 'directory', head: t.exports.directory, cell: (token) => token.directory ?? '–' },
              { key: 'created', head: t.tokens.created, cell: (token) => time(token.created, locale) },
              { key: 'expires', head: t.tokens.expires, cell: (token) => (token.expires ? time(token.expires, locale) : t.tokens.neverExpires) },
              { key: 'used', head: t.tokens.lastUsed, cell: (token) => (token.last_used ? time(token.last_used, locale) : t.tokens.never) },
              {
                key: 'do',
                head: '',
                cell: (token) => <RemoveButton name={token.name} onClick={() => setLeaving(token)} />,
              },
            ]}
          />
          <Pager {...pager} />
        </Panel>
      )}
      {making && (
        <TokenForm
          onClose={() => setMaking(false)}
          onDone={(name, token) => {
            setFresh({ name, token });
            reload();
          }}
        />
      )}
      {fresh !== undefined && (
        <Modal title={t.tokens.fresh(fresh.name)} onClose={() => setFresh(undefined)}>
          <div className="dialog-body">
            <Notice tone="warn">{t.tokens.once}</Notice>
            <Code text={fresh.token} label={t.signIn.token} />
          </div>
        </Modal>
      )}
      {leaving !== undefined && (
        <RemoveDialog name={leaving.name} url={`/v1/tokens/${encodeURIComponent(leaving.name)}`} reload={reload} onClose={() => setLeaving(undefined)}>
          {t.tokens.removeWarning}
        </RemoveDialog>
      )}
    </Page>
  );
}

function TokenForm({ onClose, onDone }: { onClose(): void; onDone(name: string, token: string): void }) {
  const { t } = useWords();
  const call = useCall();
  const [name, setName] = useState('');
  const [role, setRole] = useState<Role>('auditor');
  const [directory, setDirectory] = useState('');
  const [expires, setExpires] = useState('');
  const work = async () => {
    const made = await call<Token & { token: string }>('POST', '/v1/tokens', {
      name,
      role,
      ...(role === 'owner' ? { directory } : {}),
      ...(expires === '' ? {} : { expires: new Date(`${expires}T00:00:00`).toISOString().replace(/\.\d+Z$/, 'Z') }),
    });
    onDone(name, made.token);
  };
  return (
    <RecordDialog create={t.tokens.create} name={undefined} typed={name} work={work} onClose={onClose}>
      <TextField label={t.common.name} value={name} onValue={setName} required />
      <SelectField label={t.tokens.role} hint={t.tokens.roleHints[role]} value={role} onValue={(value) => setRole(value as Role)} options={roles.map((one) => [one, t.tokens.roles[one]] as const)} />
      {role === 'owner' && <TextField label={t.exports.directory} value={directory} onValue={setDirectory} required placeholder="/team" />}
      <TextField label={t.tokens.expires} hint={t.tokens.expiresHint} type="date" value={expires} onValue={setExpires} />
    </RecordDialog>
  );
}
