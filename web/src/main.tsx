import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from '@/app/App';
import { startLocale } from '@/i18n';
import { signInByAddress } from '@/lib/api/session';
import { registerShell } from '@/lib/shell';
import { startTheme } from '@/lib/theme';
import './styles.css';

startTheme();
const root = document.getElementById('root');
if (!root) throw new Error('index.html has no #root');
await Promise.all([startLocale(), signInByAddress()]);
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
registerShell();
