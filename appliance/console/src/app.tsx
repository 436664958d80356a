import { useEffect } from 'react';
import type { ReactElement } from 'react';
import { useLoad } from './api/load.ts';
import { useSession } from './api/session.tsx';
import type { Status } from './api/types.ts';
import { Audit } from './pages/audit.tsx';
import { Browse } from './pages/browse.tsx';
import { Clients } from './pages/clients.tsx';
import { Exports } from './pages/exports.tsx';
import { Groups } from './pages/groups.tsx';
import { Health } from './pages/health.tsx';
import { Jobs } from './pages/jobs.tsx';
import { Overview } from './pages/overview.tsx';
import { Qos } from './pages/qos.tsx';
import { Quotas } from './pages/quotas.tsx';
import { Recycle } from './pages/recycle.tsx';
import { SignIn } from './pages/sign_in.tsx';
import { Tokens } from './pages/tokens.tsx';
import { Users } from './pages/users.tsx';
import { Badge, Button, SayProvider } from './parts/basics.tsx';
import { Preferences } from './parts/preferences.tsx';
import { Icon } from './parts/icon.tsx';
import type { IconName } from './parts/icon.tsx';
import { useRoute } from './route.ts';
import type { PageName } from './route.ts';
import { useWords } from './words/words.tsx';

const pages: Record<PageName, () => ReactElement> = {
  overview: Overview,
  browse: Browse,
  exports: Exports,
  users: Users,
  groups: Groups,
  quotas: Quotas,
  qos: Qos,
  clients: Clients,
  recycle: Recycle,
  audit: Audit,
  jobs: Jobs,
  health: Health,
  tokens: Tokens,
};
const sections: readonly (readonly [keyof ReturnType<typeof useWords>['t']['sections'], readonly PageName[]])[] = [
  ['watch', ['overview', 'health', 'clients']],
  ['data', ['browse', 'exports', 'recycle']],
  ['govern', ['quotas', 'qos', 'audit']],
  ['people', ['users', 'groups', 'tokens']],
  ['work', ['jobs']],
];

const ownerPages: readonly PageName[] = ['browse', 'quotas', 'recycle'];

export function App() {
  const { t } = useWords();
  const { current, asking } = useSession();
  if (asking) return <p className="empty">{t.common.loading}</p>;
  return <SayProvider>{current === null ? <SignIn /> : <Shell />}</SayProvider>;
}

function Shell() {
  const { t } = useWords();
  const { current } = useSession();
  const route = useRoute();
  // Actions that would be refused are hidden: owners see pages about directories, and tokens are for administrators.
  const role = current?.who?.role;
  const offered = (name: PageName) => (role === 'owner' ? ownerPages.includes(name) : name !== 'tokens' || role === undefined || role === 'admin');
  const page = offered(route.page) ? route.page : 'browse';
  const Shown = pages[page];
  // Drops the result: newer browsers return a promise, which React would take for a function.
  useEffect(() => {
    window.scrollTo(0, 0);
  }, [page]);
  return (
    <div className="shell">
      <a className="skip" href="#main" onClick={(event) => { event.preventDefault(); document.querySelector<HTMLElement>('main h1')?.focus(); }}>
        {t.shell.skip}
      </a>
      <nav className="side" aria-label={t.shell.navigation}>
        <p className="brand">
          <Icon name="stoa" /> Stoa
        </p>
        {sections.map(([section, all]) => [section, all.filter(offered)] as const).filter(([, names]) => names.length > 0).map(([section, names]) => (
          <div key={section} role="group" aria-labelledby={`section-${section}`}>
            <p className="section" id={`section-${section}`}>
              {t.sections[section]}
            </p>
            <ul>
              {names.map((name) => (
                <li key={name}>
                  <a href={`#/${name}`} aria-current={name === page ? 'page' : undefined}>
                    <Icon name={name as IconName} />
                    {t.pages[name]}
                  </a>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </nav>
      <div className="content">
        <TopBar />
        <main id="main">
          <Shown key={page} />
        </main>
      </div>
    </div>
  );
}

function TopBar() {
  const { t } = useWords();
  const { current, signOut } = useSession();
  const who = current?.who;
  // The state of the server is hidden from owners.
  const { data } = useLoad<Status>(who?.role === 'owner' ? null : '/v1/status', 10_000);
  return (
    <header className="top">
      <p className="volume">
        {data !== undefined && (
          <>
            <strong>{data.volume.name}</strong>{' '}
            <Badge tone={data.healthy ? 'good' : 'bad'}>{data.healthy ? t.health.healthy : t.health.damaged}</Badge>
          </>
        )}
      </p>
      <Preferences />
      {who !== null && who !== undefined && (
        <span className="who">
          {who.name} <span className="muted">{who.role}</span>
        </span>
      )}
      <Button onClick={signOut}>{t.shell.signOut}</Button>
    </header>
  );
}
