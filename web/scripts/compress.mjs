// Writes a brotli and a gzip sibling beside each file of `dist` that shrinks; the server picks by Accept-Encoding.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const dist = new URL('../dist', import.meta.url).pathname;
const TEXT = /\.(html|js|css|svg|json)$/;
for (const name of readdirSync(dist, { recursive: true })) {
  const path = join(dist, name);
  if (!TEXT.test(name) || !statSync(path).isFile()) continue;
  const bytes = readFileSync(path);
  const siblings = {
    br: brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }),
    gz: gzipSync(bytes, { level: 9 }),
  };
  for (const [ending, small] of Object.entries(siblings)) if (small.length < bytes.length) writeFileSync(`${path}.${ending}`, small);
}
