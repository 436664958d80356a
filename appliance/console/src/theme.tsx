// Light and dark: the system setting, until the user chooses.
import { createContext, useContext, useEffect, useMemo, useState } from 'react';
import type { ReactNode } from 'react';

export type Choice = 'system' | 'light' | 'dark';
const kName = 'stoa.theme';
const kDark = '(prefers-color-scheme: dark)';

const Context = createContext<{ choice: Choice; dark: boolean; choose(choice: Choice): void }>({ choice: 'system', dark: false, choose: () => undefined });
export const useTheme = () => useContext(Context);

function stored(): Choice {
  const found = localStorage.getItem(kName);
  return found === 'light' || found === 'dark' ? found : 'system';
}

export function ThemeProvider({ children }: { children: ReactNode }) {
  const [choice, setChoice] = useState<Choice>(stored);
  const [system, setSystem] = useState(() => matchMedia(kDark).matches);
  useEffect(() => {
    const query = matchMedia(kDark);
    const changed = () => setSystem(query.matches);
    query.addEventListener('change', changed);
    return () => query.removeEventListener('change', changed);
  }, []);
  const dark = choice === 'system' ? system : choice === 'dark';
  // Before the children draw: charts read their colours from the style.
  document.documentElement.dataset['theme'] = dark ? 'dark' : 'light';
  const state = useMemo(() => {
    const choose = (next: Choice) => {
      localStorage.setItem(kName, next);
      setChoice(next);
    };
    return { choice, dark, choose };
  }, [choice, dark]);
  return <Context.Provider value={state}>{children}</Context.Provider>;
}
