// Writes dist/sw.js: the service worker with the list of files that the page needs before it knows whether the server is there.
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';

const web = new URL('..', import.meta.url).pathname;
const html = readFileSync(`${web}dist/index.html`, 'utf8');
const named = [...html.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path]) => path);
const words = readdirSync(`${web}dist/assets`).filter((name) => /^words-\w+-first-.*\.js$/.test(name)).map((name) => `/assets/${name}`);
const files = ['/', ...named, ...words];
const version = createHash('sha256').update(html).update(files.join()).digest('hex').slice(0, 16);
const fill = (source, declaration, value) => {
  if (!source.includes(declaration)) throw new Error(`src/shell.worker.js has no "${declaration}"`);
  return source.replace(declaration, value);
};
const source = readFileSync(`${web}src/shell.worker.js`, 'utf8');
writeFileSync(`${web}dist/sw.js`, fill(fill(source, 'const SHELL = [];', `const SHELL = ${JSON.stringify(files)};`), "const VERSION = '';", `const VERSION = '${version}';`));
