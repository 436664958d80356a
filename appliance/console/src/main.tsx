import { createRoot } from 'react-dom/client';
import { SessionProvider } from './api/session.tsx';
import { App } from './app.tsx';
import './style.css';
import { ThemeProvider } from './theme.tsx';
import { WordsProvider } from './words/words.tsx';

const place = document.getElementById('root');
if (place !== null) {
  createRoot(place).render(
    <ThemeProvider>
      <WordsProvider>
        <SessionProvider>
          <App />
        </SessionProvider>
      </WordsProvider>
    </ThemeProvider>,
  );
}
