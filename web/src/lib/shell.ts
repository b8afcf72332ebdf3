// The offline page: a service worker keeps a copy of the page, which waits for the server.
import { trustedUrl } from './trusted';

/** Where the browser allows it: over HTTPS and on this machine. Elsewhere a reload shows the browser's own page. */
export function registerShell(): void {
  if (!import.meta.env.PROD || !('serviceWorker' in navigator)) return;
  // Without it, only a reload during an outage differs.
  navigator.serviceWorker.register(trustedUrl('/sw.js'), { updateViaCache: 'none' }).catch(() => undefined);
}
