import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';

// The server that `npm run dev` talks to; start one with `planwright serve`.
const server = process.env.PLANWRIGHT_SERVER ?? 'http://127.0.0.1:7420';
const withoutOrigin = (proxy: { on(event: 'proxyReq', listener: (request: { removeHeader(name: string): void }) => void): void }) =>
  proxy.on('proxyReq', (request) => request.removeHeader('origin'));

// What every page needs is one file: in fifty small ones, each packed by itself, it would be a tenth larger.
const firstLoad = { name: 'first', tags: ['$initial' as const] };

export default defineConfig({
  plugins: [react(), tailwindcss()],
  resolve: { alias: { '@': new URL('./src', import.meta.url).pathname } },
  build: { target: 'es2024', assetsInlineLimit: 0, modulePreload: { polyfill: false }, reportCompressedSize: false, chunkSizeWarningLimit: 700, rolldownOptions: { output: { codeSplitting: { groups: [firstLoad] } } } },
  worker: { format: 'es' },
  server: { proxy: { '/api': { target: server, changeOrigin: true, configure: withoutOrigin } } },
  test: { environment: 'happy-dom', include: ['src/**/*.test.{ts,tsx}'], testTimeout: 30_000 },
});
