// The signed-in user, for as long as the browser tab lives.
import { createContext, useCallback, useContext, useEffect, useMemo, useState } from 'react';
import type { ReactNode } from 'react';
import { ApiError, makeCall } from './client.ts';
import type { Call } from './client.ts';
import type { Session } from './types.ts';

const kTokenName = 'stoa.token';

interface SignedIn {
  call: Call;
  who: Session | null; // null: the server has no named tokens
}
interface SessionState {
  current: SignedIn | null;
  asking: boolean; // there is a token from before a reload of the page, and its owner is being looked up
  refused: string | null; // why the last token is no longer taken
  signIn(token: string): Promise<void>;
  signOut(): void;
}

const Context = createContext<SessionState | null>(null);

export function SessionProvider({ children }: { children: ReactNode }) {
  const [token, setToken] = useState(() => sessionStorage.getItem(kTokenName));
  const [who, setWho] = useState<Session | null>(); // undefined: not asked yet
  const [refused, setRefused] = useState<string | null>(null);

  const leave = useCallback((why: string | null) => {
    sessionStorage.removeItem(kTokenName);
    setToken(null);
    setWho(undefined);
    setRefused(why);
  }, []);

  const signIn = useCallback(async (text: string) => {
    const call = makeCall(text, () => undefined);
    const found = await askWho(call);
    sessionStorage.setItem(kTokenName, text);
    setWho(found);
    setRefused(null);
    setToken(text);
  }, []);

  useEffect(() => {
    if (token === null || who !== undefined) return;
    let over = false;
    askWho(makeCall(token, leave)).then(
      (found) => { if (!over) setWho(found); },
      () => { if (!over) setWho(null); }, // the pages show the error
    );
    return () => { over = true; };
  }, [token, who, leave]);

  const state = useMemo<SessionState>(() => {
    const signOut = () => leave(null);
    const current = token === null || who === undefined ? null : { call: makeCall(token, leave), who };
    return { current, asking: token !== null && who === undefined, refused, signIn, signOut };
  }, [token, who, refused, signIn, leave]);
  return <Context.Provider value={state}>{children}</Context.Provider>;
}

async function askWho(call: Call): Promise<Session | null> {
  try {
    return await call<Session>('GET', '/v1/session');
  } catch (error) {
    if (!(error instanceof ApiError) || !error.notOffered) throw error;
  }
  await call('GET', '/v1/version');
  return null;
}

export function useSession(): SessionState {
  const state = useContext(Context);
  if (state === null) throw new Error('outside of SessionProvider');
  return state;
}

export function useCall(): Call {
  const { current } = useSession();
  if (current === null) throw new Error('not signed in');
  return current.call;
}
