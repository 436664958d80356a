// The language of the console: that of the browser, until the user chooses. A dictionary that lacks a word does not compile.
import { createContext, useContext, useEffect, useMemo, useState } from 'react';
import type { ReactNode } from 'react';
import { en } from './en.ts';
import { zh } from './zh.ts';

export type Words = typeof en;
export type Language = 'en' | 'zh';
const dictionaries: Record<Language, Words> = { en, zh };
const locales: Record<Language, string> = { en: 'en-GB', zh: 'zh-CN' };
const kName = 'stoa.language';

interface State {
  t: Words;
  language: Language;
  locale: string;
  choose(language: Language): void;
}
const Context = createContext<State>({ t: en, language: 'en', locale: locales.en, choose: () => undefined });
export const useWords = () => useContext(Context);

function first(): Language {
  const chosen = localStorage.getItem(kName);
  if (chosen === 'en' || chosen === 'zh') return chosen;
  return navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en';
}

export function WordsProvider({ children }: { children: ReactNode }) {
  const [language, setLanguage] = useState<Language>(first);
  useEffect(() => {
    document.documentElement.lang = locales[language];
  }, [language]);
  const state = useMemo<State>(() => {
    const choose = (next: Language) => {
      localStorage.setItem(kName, next);
      setLanguage(next);
    };
    return { t: dictionaries[language], language, locale: locales[language], choose };
  }, [language]);
  return <Context.Provider value={state}>{children}</Context.Provider>;
}
