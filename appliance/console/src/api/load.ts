// Data of a page: loaded once, again on demand, and every few seconds while the page is visible.
import { useCallback, useEffect, useRef, useState } from 'react';
import { ApiError, withQuery } from './client.ts';
import { useCall } from './session.tsx';

export interface Loaded<T> {
  data: T | undefined; // the last answer, also while a newer one is asked for
  error: ApiError | undefined;
  reload(): void;
}

// null as url: nothing is asked. `everyMs`: again that long after each answer, only while the page is visible.
export function useLoad<T>(url: string | null, everyMs?: number): Loaded<T> {
  const call = useCall();
  const [answer, setAnswer] = useState<{ url: string | null; data?: T; error?: ApiError }>({ url: null });
  const [round, setRound] = useState(0);

  useEffect(() => {
    if (url === null) return;
    const abort = new AbortController();
    let timer: number | undefined;
    const again = () => {
      if (everyMs !== undefined && !abort.signal.aborted) timer = window.setTimeout(ask, everyMs);
    };
    const ask = () => {
      if (document.hidden) return; // `shown` goes on
      call<T>('GET', url, undefined, abort.signal).then(
        (data) => {
          if (abort.signal.aborted) return;
          setAnswer({ url, data });
          again();
        },
        (error: unknown) => {
          if (abort.signal.aborted || !(error instanceof ApiError)) return;
          setAnswer((before) => (before.url === url && before.data !== undefined ? { url, data: before.data, error } : { url, error }));
          if (!error.notOffered) again();
        },
      );
    };
    const shown = () => {
      window.clearTimeout(timer);
      ask();
    };
    if (everyMs !== undefined) document.addEventListener('visibilitychange', shown);
    ask();
    return () => {
      abort.abort();
      window.clearTimeout(timer);
      document.removeEventListener('visibilitychange', shown);
    };
  }, [call, url, everyMs, round]);

  const reload = useCallback(() => setRound((n) => n + 1), []);
  const mine = answer.url === url;
  return { data: mine ? answer.data : undefined, error: mine ? answer.error : undefined, reload };
}

// The answer of a paged list.
type Paged<Member extends string, Row> = { [K in Member]: Row[] } & { next_after?: string };

// One page of a list, and the functions that turn to others.
export function usePages<Row, Member extends string>(url: string, member: Member, everyMs?: number) {
  const [begins, setBegins] = useState<readonly string[]>([]);
  const { data, error, reload } = useLoad<Paged<Member, Row>>(withQuery(url, { limit: 200, after: begins[begins.length - 1] }), everyMs);
  const rows: readonly Row[] | undefined = data?.[member];
  return { rows, error, reload, pager: { begins, next: data?.next_after, onTurn: setBegins } };
}

// All pages of a list, for look-ups of records. undefined until the last one is there, and for good when one is
// refused.
export function useAll<Row, Member extends string>(url: string, member: Member): readonly Row[] | undefined {
  const call = useCall();
  const [rows, setRows] = useState<readonly Row[]>();
  useEffect(() => {
    const abort = new AbortController();
    const ask = async () => {
      const all: Row[] = [];
      for (let after: string | undefined; ; ) {
        const page: Paged<Member, Row> = await call('GET', withQuery(url, { after }), undefined, abort.signal);
        all.push(...page[member]);
        after = page.next_after;
        if (after === undefined) break;
      }
      if (!abort.signal.aborted) setRows(all);
    };
    ask().catch(() => undefined);
    return () => abort.abort();
  }, [call, url, member]);
  return rows;
}

export interface Action {
  busy: boolean;
  error: ApiError | undefined;
  // True when it went well.
  run(work: () => Promise<unknown>): Promise<boolean>;
  clear(): void;
}

// Something that changes the server: one at a time, with the error it ended with.
export function useAction(): Action {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError>();
  const running = useRef(false);
  const run = useCallback(async (work: () => Promise<unknown>) => {
    if (running.current) return false;
    running.current = true;
    setBusy(true);
    setError(undefined);
    try {
      await work();
      return true;
    } catch (problem) {
      setError(problem instanceof ApiError ? problem : new ApiError(0, 'console', '', String(problem)));
      return false;
    } finally {
      running.current = false;
      setBusy(false);
    }
  }, []);
  const clear = useCallback(() => setError(undefined), []);
  return { busy, error, run, clear };
}
