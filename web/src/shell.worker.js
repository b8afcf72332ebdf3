// The service worker: it shows the app's own page while the server is away, and that page says so and waits for it.
// Whatever the server answers is taken; the copies here are used only where no answer comes. `scripts/shell.mjs` fills in the list.
const SHELL = [];
const VERSION = '';
const PREFIX = 'planwright-shell-';

self.addEventListener('install', (event) => {
  event.waitUntil(caches.open(PREFIX + VERSION).then((cache) => cache.addAll(SHELL)).then(() => self.skipWaiting()));
});

self.addEventListener('activate', (event) => {
  const isOld = (name) => name.startsWith(PREFIX) && name !== PREFIX + VERSION;
  event.waitUntil(caches.keys().then((names) => Promise.all(names.filter(isOld).map((name) => caches.delete(name)))));
});

/** A proxy answers in place of a server that is away. */
const isAway = (response) => [502, 503, 504].includes(response.status);

self.addEventListener('fetch', (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== 'GET' || origin !== location.origin || pathname.startsWith('/api/')) return;
  const copy = request.mode === 'navigate' ? '/' : SHELL.find((path) => path === pathname);
  if (copy === undefined) return;
  const stored = () => caches.match(copy);
  event.respondWith(
    fetch(request).then(
      async (response) => (isAway(response) ? ((await stored()) ?? response) : response),
      async (reason) => (await stored()) ?? Promise.reject(reason),
    ),
  );
});
