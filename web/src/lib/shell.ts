// The page without its server: a service worker keeps a copy of the page, which says that the server is away and waits for it.
import { trustedUrl } from './trusted';

/** Where the browser allows it: over HTTPS and on this machine. Elsewhere a reload shows the browser's own page. */
export function registerShell(): void {
  if (!import.meta.env.PROD || !('serviceWorker' in navigator)) return;
  // Without it, everything but a reload while the server is away works the same.
  navigator.serviceWorker.register(trustedUrl('/sw.js'), { updateViaCache: 'none' }).catch(() => undefined);
}
