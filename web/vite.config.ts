import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import type { Plugin } from 'vite';

// The server that `npm run dev` talks to; start one with `planwright serve`.
const server = process.env.PLANWRIGHT_SERVER ?? 'http://127.0.0.1:7420';
const withoutOrigin = (proxy: { on(event: 'proxyReq', listener: (request: { removeHeader(name: string): void }) => void): void }) =>
  proxy.on('proxyReq', (request) => request.removeHeader('origin'));

// Fifty small files, each compressed by itself, would be a tenth larger than one.
const firstLoad = { name: 'first', tags: ['$initial' as const], priority: 100 };

interface Graph {
  getModuleInfo(id: string): { isEntry: boolean; importers: readonly string[]; dynamicImporters: readonly string[] } | null;
}

/** The modules that use each icon. All icons come by way of one list, from which the graph can't tell who needs which. */
const usersOfIcons = (() => {
  const src = new URL('./src/', import.meta.url).pathname;
  const list = readFileSync(new URL('./node_modules/lucide-react/dist/esm/lucide-react.mjs', import.meta.url), 'utf8');
  const fileOf = new Map([...list.matchAll(/export \{([^}]*)\} from '\.\/(icons\/[\w-]+\.mjs)'/g)].flatMap(([, names = '', file = '']) => [...names.matchAll(/as (\w+)/g)].map(([, name = '']) => [name, file] as const)));
  const users = new Map<string, string[]>();
  for (const name of readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((path) => /\.tsx?$/.test(path))) {
    const [, icons] = /import \{([^}]*)\} from 'lucide-react'/.exec(readFileSync(src + name, 'utf8')) ?? [];
    for (const icon of icons?.split(',') ?? []) {
      const file = fileOf.get(icon.trim().split(' ')[0] ?? '');
      if (file) users.set(file, [...(users.get(file) ?? []), src + name]);
    }
  }
  return users;
})();

/** The modules that are loaded on demand and need this one at once. `main` stands for the first load. */
function loadedWith(id: string, graph: Graph, seen = new Set<string>()): Set<string> {
  const found = new Set<string>();
  const visit = (one: string) => {
    if (seen.has(one)) return;
    seen.add(one);
    const info = graph.getModuleInfo(one);
    if (info?.isEntry) found.add('main');
    if (info && info.dynamicImporters.length > 0) found.add(one);
    (usersOfIcons.get(/icons\/[\w-]+\.mjs$/.exec(one)?.[0] ?? '') ?? info?.importers)?.forEach(visit);
  };
  visit(id);
  return found;
}

const CHAT = /src\/app\/ChatRoute\.tsx$/;
const INBOX = /src\/features\/home\/InboxPage\.tsx$/;
/** Libraries that import nothing of ours. */
const MARKDOWN = /node_modules\/(marked|remend)\//;
const PRIORITIES = { pages: 40, markdown: 30, shared: 20, chat: 10 };
type Part = keyof typeof PRIORITIES;

/** In which file a module goes that the chat needs at once: by who else needs it, so that nobody loads much for a little. Only
    by that: what a module imports is needed by everybody who needs the module, so no two files import each other. */
function partOf(id: string, graph: Graph): Part | null {
  const needed = [...loadedWith(id, graph)];
  if (needed.includes('main') || !needed.some((one) => CHAT.test(one))) return null;
  if (needed.some((one) => INBOX.test(one))) return 'pages';
  if (MARKDOWN.test(id)) return 'markdown';
  const isOfFirst = (one: string) => loadedWith(one, graph).has('main');
  const isElsewhere = needed.some((one) => !CHAT.test(one) && (graph.getModuleInfo(one)?.dynamicImporters.some(isOfFirst) ?? false));
  return isElsewhere ? 'shared' : 'chat';
}
const chatLoad = (Object.keys(PRIORITIES) as Part[]).map((name) => ({ name: (id: string, graph: Graph) => (partOf(id, graph) === name ? name : null), priority: PRIORITIES[name] }));

/** Each file of words is named after its language and its set. */
const nameOf = ({ facadeModuleId }: { facadeModuleId?: string | null }) => {
  const [, locale, set] = /i18n\/(\w+)\/(\w+)\.ts$/.exec(facadeModuleId ?? '') ?? [];
  return locale ? `assets/words-${locale}-${set}-[hash].js` : 'assets/[name]-[hash].js';
};

/** Writes down which modules went into which file; `scripts/budget.mjs` holds them to their budgets. */
const chunkList: Plugin = {
  name: 'chunk-list',
  writeBundle(_, bundle) {
    const chunks = Object.values(bundle).flatMap((one) => (one.type === 'chunk' ? [{ file: one.fileName, facade: one.facadeModuleId, imports: one.imports, dynamicImports: one.dynamicImports, modules: one.moduleIds }] : []));
    writeFileSync(new URL('.chunks.json', import.meta.url), JSON.stringify(chunks));
  },
};

export default defineConfig({
  plugins: [react(), tailwindcss(), chunkList],
  resolve: { alias: { '@': new URL('./src', import.meta.url).pathname } },
  build: { target: 'es2024', assetsInlineLimit: 0, modulePreload: { polyfill: false }, reportCompressedSize: false, chunkSizeWarningLimit: 700, rolldownOptions: { output: { chunkFileNames: nameOf, codeSplitting: { includeDependenciesRecursively: false, groups: [firstLoad, ...chatLoad] } } } },
  worker: { format: 'es' },
  server: { proxy: { '/api': { target: server, changeOrigin: true, configure: withoutOrigin } } },
  // One window for all files of a worker: making one takes longer than most files.
  test: { environment: 'happy-dom', isolate: false, include: ['src/**/*.test.{ts,tsx}'], setupFiles: ['src/testSetup.ts'], testTimeout: 30_000 },
});
