import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { writeFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import type { Plugin } from 'vite';

// The server that `npm run dev` talks to; start one with `planwright serve`.
const server = process.env.PLANWRIGHT_SERVER ?? 'http://127.0.0.1:7420';
const withoutOrigin = (proxy: { on(event: 'proxyReq', listener: (request: { removeHeader(name: string): void }) => void): void }) =>
  proxy.on('proxyReq', (request) => request.removeHeader('origin'));

// Fifty small files, each compressed by itself, would be a tenth larger than one.
const firstLoad = { name: 'first', tags: ['$initial' as const] };

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
  build: { target: 'es2024', assetsInlineLimit: 0, modulePreload: { polyfill: false }, reportCompressedSize: false, chunkSizeWarningLimit: 700, rolldownOptions: { output: { chunkFileNames: nameOf, codeSplitting: { groups: [firstLoad] } } } },
  worker: { format: 'es' },
  server: { proxy: { '/api': { target: server, changeOrigin: true, configure: withoutOrigin } } },
  test: { environment: 'happy-dom', include: ['src/**/*.test.{ts,tsx}'], setupFiles: ['src/testSetup.ts'], testTimeout: 30_000 },
});
