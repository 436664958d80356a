// Colours and language of the viewer.
import { useTheme } from '../theme.tsx';
import type { Choice } from '../theme.tsx';
import { useWords } from '../words/words.tsx';
import type { Language } from '../words/words.tsx';

export function Preferences() {
  const { t, language, choose } = useWords();
  const theme = useTheme();
  return (
    <div className="preferences">
      <label>
        <span className="unseen">{t.shell.theme}</span>
        <select value={theme.choice} onChange={(event) => theme.choose(event.target.value as Choice)}>
          <option value="system">{t.shell.themes.system}</option>
          <option value="light">{t.shell.themes.light}</option>
          <option value="dark">{t.shell.themes.dark}</option>
        </select>
      </label>
      <label>
        <span className="unseen">{t.shell.language}</span>
        <select value={language} onChange={(event) => choose(event.target.value as Language)}>
          <option value="en" lang="en">
            English
          </option>
          <option value="zh" lang="zh">
            中文
          </option>
        </select>
      </label>
    </div>
  );
}
