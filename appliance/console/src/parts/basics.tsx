// The small design system: the parts of pages.
import { createContext, useCallback, useContext, useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
import type { ButtonHTMLAttributes, FormEvent, InputHTMLAttributes, ReactNode, SelectHTMLAttributes } from 'react';
import type { ApiError } from '../api/client.ts';
import { useAction } from '../api/load.ts';
import { useWords } from '../words/words.tsx';

interface PageProps {
  title: string;
  intro?: string;
  actions?: ReactNode;
  place?: string; // the shown part of the page; another one is like another page
  children: ReactNode;
}
export function Page({ title, intro, actions, place, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} – Stoa`;
  }, [title]);
  // A new page begins at its heading, for screen readers and for the keyboard.
  useEffect(() => {
    heading.current?.focus({ preventScroll: true });
  }, [place]);
  return (
    <>
      <header className="page-head">
        <div>
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {intro !== undefined && <p className="intro">{intro}</p>}
        </div>
        {actions !== undefined && <div className="actions">{actions}</div>}
      </header>
      {children}
    </>
  );
}

export function Panel({ title, actions, children, className }: { title: string; actions?: ReactNode; children: ReactNode; className?: string }) {
  const id = useId();
  return (
    <section className={`panel ${className ?? ''}`} aria-labelledby={id}>
      <div className="panel-head">
        <h2 id={id}>{title}</h2>
        {actions !== undefined && <div className="actions">{actions}</div>}
      </div>
      {children}
    </section>
  );
}

type ButtonKind = 'plain' | 'primary' | 'danger' | 'quiet';
export function Button({ kind = 'plain', ...rest }: { kind?: ButtonKind } & ButtonHTMLAttributes<HTMLButtonElement>) {
  return <button type="button" className={`button ${kind}`} {...rest} />;
}

export function Field({ label, hint, children }: { label: string; hint?: string | undefined; children: (ids: { id: string; 'aria-describedby'?: string }) => ReactNode }) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children(hint === undefined ? { id } : { id, 'aria-describedby': `${id}-hint` })}
      {hint !== undefined && (
        <p className="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

type TextProps = { label: string; hint?: string; value: string; onValue(value: string): void } & Omit<InputHTMLAttributes<HTMLInputElement>, 'value' | 'onChange'>;
export function TextField({ label, hint, value, onValue, ...rest }: TextProps) {
  return (
    <Field label={label} hint={hint}>
      {(ids) => <input {...ids} autoComplete="off" spellCheck={false} value={value} onChange={(event) => onValue(event.target.value)} {...rest} />}
    </Field>
  );
}

type SelectProps = { label: string; hint?: string; value: string; onValue(value: string): void; options: readonly (readonly [string, string])[] } & Omit<
  SelectHTMLAttributes<HTMLSelectElement>,
  'value' | 'onChange'
>;
export function SelectField({ label, hint, value, onValue, options, ...rest }: SelectProps) {
  return (
    <Field label={label} hint={hint}>
      {(ids) => (
        <select {...ids} value={value} onChange={(event) => onValue(event.target.value)} {...rest}>
          {options.map(([key, text]) => (
            <option key={key} value={key}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

export function Check({ label, checked, onValue, disabled }: { label: ReactNode; checked: boolean; onValue(checked: boolean): void; disabled?: boolean }) {
  return (
    <label className="check">
      <input type="checkbox" checked={checked} disabled={disabled} onChange={(event) => onValue(event.target.checked)} />
      <span>{label}</span>
    </label>
  );
}

export function Badge({ tone = 'plain', children }: { tone?: 'plain' | 'good' | 'warn' | 'bad'; children: ReactNode }) {
  return <span className={`badge ${tone}`}>{children}</span>;
}

export function Notice({ tone = 'plain', children, alert = false }: { tone?: 'plain' | 'good' | 'warn' | 'bad'; children: ReactNode; alert?: boolean }) {
  return (
    <div className={`notice ${tone}`} role={alert ? 'alert' : undefined}>
      {children}
    </div>
  );
}

// The server's error, and its remedy.
export function Problem({ error }: { error: ApiError | undefined }) {
  const { t } = useWords();
  if (error === undefined) return null;
  if (error.notOffered) return <Notice>{t.errors.notOffered}</Notice>;
  const byStatus: Record<number, string> = {
    0: t.errors.unreachable,
    401: t.errors.token,
    403: t.errors.forbidden,
    404: t.errors.gone,
    409: t.errors.exists,
    429: t.errors.tooMany,
    503: t.errors.busy,
    507: t.errors.full,
  };
  const remedy = t.remedies[error.cause] ?? byStatus[error.status] ?? (error.status >= 500 ? t.errors.server : t.errors.input);
  return (
    <Notice tone="bad" alert>
      {error.message !== '' && <strong className="said" lang="en">{error.message}</strong>} <span>{remedy}</span>
    </Notice>
  );
}

// A part of a whole, as a bar with words.
export function Meter({ part, whole, label, text }: { part: number; whole: number; label: string; text: string }) {
  const share = whole > 0 ? Math.min(1, part / whole) : 0;
  const tone = share >= 0.95 ? 'bad' : share >= 0.8 ? 'warn' : 'good';
  return (
    <div className="meter-line">
      <div
        className={`meter ${tone}`}
        role="meter"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(share * 100)}
        aria-valuetext={text}
      >
        <svg width="100%" height="100%" aria-hidden="true">
          <rect width={`${share * 100}%`} height="100%" rx="3" />
        </svg>
      </div>
      <span className="meter-text">{text}</span>
    </div>
  );
}

export interface Column<Row> {
  key: string;
  head: string;
  cell(row: Row): ReactNode;
  numeric?: boolean;
  // The cell that names the row.
  names?: boolean;
}
interface TableProps<Row> {
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[] | undefined;
  error?: ApiError | undefined; // why there are no rows; it is shown elsewhere
  rowKey(row: Row): string;
  empty: string;
}
export function Table<Row>({ caption, columns, rows, error, rowKey, empty }: TableProps<Row>) {
  const { t } = useWords();
  if (rows === undefined) return error === undefined ? <p className="empty">{t.common.loading}</p> : null;
  if (rows.length === 0) return <p className="empty">{empty}</p>;
  return (
    <div className="table-frame" role="group" aria-label={caption} tabIndex={0}>
      <table>
        <caption className="unseen">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.key} scope="col" className={column.numeric ? 'numeric' : undefined}>
                {column.head === '' ? <span className="unseen">{t.common.actions}</span> : column.head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)}>
              {columns.map((column) =>
                column.names ? (
                  <th key={column.key} scope="row">
                    {column.cell(row)}
                  </th>
                ) : (
                  <td key={column.key} className={column.numeric ? 'numeric' : undefined}>
                    {column.cell(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

// A message about an event, also for screen readers.
const SayContext = createContext<(text: string) => void>(() => undefined);
export const useSay = () => useContext(SayContext);
export function SayProvider({ children }: { children: ReactNode }) {
  const [said, setSaid] = useState({ text: '', round: 0 });
  const say = useCallback((text: string) => setSaid((before) => ({ text, round: before.round + 1 })), []);
  useEffect(() => {
    if (said.text === '') return;
    const timer = window.setTimeout(() => setSaid((before) => ({ ...before, text: '' })), 6000);
    return () => window.clearTimeout(timer);
  }, [said]);
  return (
    <SayContext.Provider value={say}>
      {children}
      <div role="status" aria-live="polite" className={`toast ${said.text === '' ? 'gone' : ''}`}>
        {said.text}
      </div>
    </SayContext.Provider>
  );
}

export function Copy({ text, label }: { text: string; label: string }) {
  const { t } = useWords();
  const say = useSay();
  const copy = () => {
    copyText(text).then(
      () => say(t.common.copied),
      () => say(t.common.notCopied),
    );
  };
  return (
    <Button kind="quiet" onClick={copy} aria-label={`${t.common.copy}: ${label}`}>
      {t.common.copy}
    </Button>
  );
}

// Browsers keep the clipboard from pages that did not come over TLS or the loopback; the old way still works there.
async function copyText(text: string): Promise<void> {
  if (window.isSecureContext) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  (document.querySelector('dialog[open]') ?? document.body).append(area);
  area.select();
  const copied = document.execCommand('copy');
  area.remove();
  if (!copied) throw new Error('refused');
}

export function Code({ text, label }: { text: string; label: string }) {
  return (
    <div className="code">
      <pre tabIndex={0} aria-label={label} role="group">
        {text}
      </pre>
      <Copy text={text} label={label} />
    </div>
  );
}

// A modal window. The browser's own dialog keeps the focus inside, and gives it back.
export function Modal({ title, onClose, children, wide = false }: { title: string; onClose(): void; children: ReactNode; wide?: boolean }) {
  const { t } = useWords();
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  // Closed before it leaves the document, or the focus would not go back to where it came from.
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    element?.querySelector<HTMLElement>('.dialog-body :is(input:not([readonly]), select, textarea)')?.focus();
    return () => element?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      className={wide ? 'wide' : undefined}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <div className="dialog-head">
        <h2 id={id}>{title}</h2>
        <Button kind="quiet" onClick={onClose} aria-label={t.common.close}>
          <span aria-hidden="true">✕</span>
        </Button>
      </div>
      {children}
    </dialog>
  );
}

interface FormProps {
  title: string;
  submit: string;
  danger?: boolean;
  wide?: boolean;
  done: string; // said when it went well
  work(): Promise<unknown>;
  onClose(): void;
  children: ReactNode;
}
// A modal window that changes something, and stays with the server's words when that is refused.
export function FormDialog({ title, submit, danger = false, wide = false, done, work, onClose, children }: FormProps) {
  const { t } = useWords();
  const say = useSay();
  const action = useAction();
  const send = async (event: FormEvent) => {
    event.preventDefault();
    if (!(await action.run(work))) return;
    say(done);
    onClose();
  };
  return (
    <Modal title={title} onClose={onClose} wide={wide}>
      <form onSubmit={(event) => void send(event)}>
        <div className="dialog-body">
          {children}
          <Problem error={action.error} />
        </div>
        <div className="dialog-foot">
          <Button onClick={onClose}>{t.common.cancel}</Button>
          <Button type="submit" kind={danger ? 'danger' : 'primary'} disabled={action.busy}>
            {submit}
          </Button>
        </div>
      </form>
    </Modal>
  );
}

// Arrow keys go from one to the next, as WAI-ARIA has it for tabs.
export function Tabs({ label, tabs }: { label: string; tabs: readonly { key: string; title: string; body: ReactNode }[] }) {
  const [at, setAt] = useState(0);
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const shown = tabs[Math.min(at, tabs.length - 1)];
  if (shown === undefined) return null;
  const go = (to: number) => {
    const next = (to + tabs.length) % tabs.length;
    setAt(next);
    list.current?.querySelectorAll<HTMLElement>('[role=tab]')[next]?.focus();
  };
  return (
    <div className="tabs">
      <div role="tablist" aria-label={label} ref={list}>
        {tabs.map((tab, i) => (
          <button
            key={tab.key}
            type="button"
            role="tab"
            id={`${id}-${tab.key}`}
            aria-selected={tab === shown}
            aria-controls={`${id}-panel`}
            tabIndex={tab === shown ? 0 : -1}
            onClick={() => setAt(i)}
            onKeyDown={(event) => {
              if (event.key === 'ArrowRight') go(i + 1);
              if (event.key === 'ArrowLeft') go(i - 1);
              if (event.key === 'Home') go(0);
              if (event.key === 'End') go(tabs.length - 1);
            }}
          >
            {tab.title}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${shown.key}`} tabIndex={0}>
        {shown.body}
      </div>
    </div>
  );
}

export function Facts({ facts }: { facts: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
