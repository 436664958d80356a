// Which page is shown: the part of the address behind "#", as "#/browse/projects/2026".
import { useSyncExternalStore } from 'react';
import type { Path } from './paths.ts';

export const pageNames = [
  'overview', 'browse', 'exports', 'users', 'groups', 'quotas', 'qos', 'clients', 'recycle', 'audit', 'jobs', 'health', 'tokens',
] as const;
export type PageName = (typeof pageNames)[number];

function subscribe(changed: () => void) {
  window.addEventListener('hashchange', changed);
  return () => window.removeEventListener('hashchange', changed);
}

export function useRoute(): { page: PageName; rest: Path } {
  const hash = useSyncExternalStore(subscribe, () => window.location.hash);
  const [, name = '', rest = ''] = /^#\/([a-z]*)(\/.*)?$/.exec(hash) ?? [];
  return { page: pageNames.find((page) => page === name) ?? 'overview', rest: (rest || '/') as Path };
}

export function hrefOf(page: PageName, path?: Path): string {
  return path === undefined || path === '/' ? `#/${page}` : `#/${page}${path}`;
}
