// The common part of pages that edit records: the list with a button for a new one, the window that removes one, its place and its page.
import type { FormEvent, ReactNode } from 'react';
import { useState } from 'react';
import type { ApiError } from '../api/client.ts';
import { useCall } from '../api/session.tsx';
import { useWords } from '../words/words.tsx';
import { Button, FormDialog, Page, Panel, Problem, Table, TextField } from './basics.tsx';
import type { Column } from './basics.tsx';

interface ListProps<Row> {
  title: string;
  intro: string;
  actions?: ReactNode;
  list: string; // name of the list
  rows: readonly Row[] | undefined;
  error: ApiError | undefined;
  rowKey(row: Row): string;
  empty: string;
  columns: readonly Column<Row>[];
  children: ReactNode; // behind the table: its windows
}
export function ListPage<Row>({ title, intro, actions, list, rows, error, rowKey, empty, columns, children }: ListProps<Row>) {
  return (
    <Page title={title} intro={intro} actions={actions}>
      <Problem error={error} />
      <Panel title={list}>
        <Table<Row> caption={list} rows={rows} error={error} rowKey={rowKey} empty={empty} columns={columns} />
      </Panel>
      {children}
    </Page>
  );
}

// In the row of its record: short on the screen, in full for screen readers.
export function RowButton({ children, says, onClick }: { children: ReactNode; says: string; onClick(): void }) {
  return (
    <Button kind="quiet" onClick={onClick} aria-label={says}>
      {children}
    </Button>
  );
}
export function ChangeButton({ name, onClick }: { name: string; onClick(): void }) {
  const { t } = useWords();
  return (
    <RowButton says={t.common.changeOne(name)} onClick={onClick}>
      {t.common.change}
    </RowButton>
  );
}
export function RemoveButton({ name, onClick }: { name: string; onClick(): void }) {
  const { t } = useWords();
  return (
    <RowButton says={t.common.removeOne(name)} onClick={onClick}>
      {t.common.remove}
    </RowButton>
  );
}

// Asks, and removes the record at the address. `reload` also when it was refused: then the list was out of date.
interface RemoveProps {
  name: string;
  url: string;
  title?: string;
  submit?: string;
  done?: string;
  reload(): void;
  onClose(): void;
  children: ReactNode; // the effect
}
export function RemoveDialog({ name, url, title, submit, done, reload, onClose, children }: RemoveProps) {
  const { t } = useWords();
  const call = useCall();
  return (
    <FormDialog
      title={title ?? t.common.removeOne(name)}
      submit={submit ?? t.common.remove}
      danger
      done={done ?? t.common.removed(name)}
      work={() => call('DELETE', url).finally(reload)}
      onClose={onClose}
    >
      <p>{children}</p>
    </FormDialog>
  );
}

// A new record, or another content for the one named `name`; `typed` is its new name.
interface RecordProps {
  create: string;
  name: string | undefined;
  typed: string;
  work(): Promise<unknown>;
  onClose(): void;
  children: ReactNode;
}
export function RecordDialog({ create, name, typed, work, onClose, children }: RecordProps) {
  const { t } = useWords();
  return (
    <FormDialog
      title={name === undefined ? create : t.common.changeOne(name)}
      submit={name === undefined ? t.common.create : t.common.save}
      done={name === undefined ? t.common.created(typed) : t.common.saved(typed)}
      work={work}
      onClose={onClose}
    >
      {children}
    </FormDialog>
  );
}

// Removes a policy of a directory, so that the one above applies again.
export function InheritDialog({ path, url, reload, onClose }: { path: string; url: string; reload(): void; onClose(): void }) {
  const { t } = useWords();
  const call = useCall();
  return (
    <FormDialog title={t.recycle.inherit} submit={t.recycle.inherit} done={t.common.saved(path)} work={() => call('DELETE', url).then(reload)} onClose={onClose}>
      <p>{t.recycle.inheritText(path)}</p>
    </FormDialog>
  );
}

// Which directory it is about.
export function PlaceForm({ path, onPath }: { path: string; onPath(path: string): void }) {
  const { t } = useWords();
  const [typed, setTyped] = useState(path);
  const go = (event: FormEvent) => {
    event.preventDefault();
    onPath(typed.trim() || '/');
  };
  return (
    <form onSubmit={go} className="inline">
      <TextField label={t.exports.directory} value={typed} onValue={setTyped} />
      <Button type="submit">{t.browse.go}</Button>
    </form>
  );
}

// Navigation of paged lists: the begin of each page so far, and of the next one by the last answer.
interface PagerProps {
  begins: readonly string[];
  next: string | number | null | undefined;
  onTurn(begins: readonly string[]): void;
}
export function Pager({ begins, next, onTurn }: PagerProps) {
  const { t } = useWords();
  return (
    <div className="pager">
      {begins.length > 0 && <Button onClick={() => onTurn(begins.slice(0, -1))}>{t.common.back}</Button>}
      {next !== null && next !== undefined && <Button onClick={() => onTurn([...begins, String(next)])}>{t.common.more}</Button>}
    </div>
  );
}
