import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from '@/app/App';
import { startLocale } from '@/i18n';
import { token } from '@/lib/api/client';
import { startTheme } from '@/lib/theme';
import './styles.css';

const given = new URLSearchParams(location.hash.slice(1)).get('token');
if (given) {
  token.set(given);
  history.replaceState(null, '', location.pathname + location.search);
}
startTheme();
startLocale();
const root = document.getElementById('root');
if (!root) throw new Error('index.html has no #root');
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
