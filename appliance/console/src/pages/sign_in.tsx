import { useState } from 'react';
import type { FormEvent } from 'react';
import { useAction } from '../api/load.ts';
import { useSession } from '../api/session.tsx';
import { Button, Field, Notice, Problem } from '../parts/basics.tsx';
import { Icon } from '../parts/icon.tsx';
import { Preferences } from '../parts/preferences.tsx';
import { useWords } from '../words/words.tsx';

export function SignIn() {
  const { t } = useWords();
  const { signIn, refused } = useSession();
  const [token, setToken] = useState('');
  const action = useAction();
  const send = (event: FormEvent) => {
    event.preventDefault();
    void action.run(() => signIn(token.trim()));
  };
  return (
    <main className="sign-in">
      <div className="sign-in-card">
        <p className="brand">
          <Icon name="stoa" /> Stoa
        </p>
        <h1>{t.signIn.title}</h1>
        <p>{t.signIn.intro}</p>
        {refused !== null && action.error === undefined && (
          <Notice tone="warn" alert>
            {t.signIn.ended} {refused}
          </Notice>
        )}
        <form onSubmit={send}>
          <Field label={t.signIn.token} hint={t.signIn.hint}>
            {(ids) => <input {...ids} type="password" autoComplete="current-password" required autoFocus value={token} onChange={(event) => setToken(event.target.value)} />}
          </Field>
          <Problem error={action.error} />
          <Button type="submit" kind="primary" disabled={action.busy}>
            {t.signIn.submit}
          </Button>
        </form>
        <Preferences />
      </div>
    </main>
  );
}
