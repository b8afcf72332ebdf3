// Holds the built web UI to its budgets: bytes of each first load and of each part, and which code is in the first load.
import { readFileSync, readdirSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';

const web = new URL('..', import.meta.url).pathname;
const KB = 1000;
const BUDGETS = { home: 140 * KB, chat: 210 * KB, part: 60 * KB };
/** The home page must not pay for them. */
const CHAT_ONLY = /node_modules\/(marked|remend|@tanstack\/(react-virtual|virtual-core)|lowlight|highlight\.js)\/|src\/components\/markdown\/|src\/features\/(question|plan|timeline|changes|files)\/|src\/features\/chat\/(Timeline|Dock|ChatPage|ItemView|AssistantMessage)/;

/** What a chunk needs, by its static imports. */
function closure(chunks, start) {
  const found = new Set();
  const visit = (file) => {
    if (found.has(file)) return;
    found.add(file);
    chunks.find((chunk) => chunk.file === file)?.imports.forEach(visit);
  };
  start.forEach(visit);
  return [...found];
}

export function measure() {
  const chunks = JSON.parse(readFileSync(`${web}.chunks.json`, 'utf8'));
  const html = readFileSync(`${web}dist/index.html`, 'utf8');
  const assets = readdirSync(`${web}dist/assets`).filter((name) => /\.(js|css)$/.test(name)).map((name) => `assets/${name}`);
  const missing = chunks.map(({ file }) => file).filter((file) => !assets.includes(file));
  if (missing.length > 0) throw new Error(`.chunks.json is of another build: ${missing[0]}`);
  const packed = (file) => gzipSync(readFileSync(`${web}dist/${file}`), { level: 9 }).length;
  const sum = (files) => [...new Set(files)].reduce((total, file) => total + packed(file), 0);
  const facade = (pattern) => chunks.filter((chunk) => pattern.test(chunk.facade ?? '')).map(({ file }) => file);
  const entry = closure(chunks, chunks.filter((chunk) => html.includes(chunk.file)).map(({ file }) => file));
  const styles = assets.filter((file) => file.endsWith('.css') && html.includes(file));
  const worker = assets.filter((file) => /\/worker-/.test(file));
  const words = (set) => facade(new RegExp(`i18n/\\w+/${set}\\.ts$`)).toSorted((a, b) => packed(b) - packed(a)).slice(0, 1);
  const shared = [...entry, ...styles, ...worker, ...closure(chunks, words('first'))];
  const home = [...shared, ...closure(chunks, facade(/features\/home\/InboxPage\.tsx$/)), ...closure(chunks, words('inbox'))];
  const chat = [...shared, ...closure(chunks, facade(/app\/ChatRoute\.tsx$/)), ...closure(chunks, words('chatPages')), ...closure(chunks, words('workspace'))];
  const lazy = assets.filter((file) => !shared.includes(file));
  const parts = lazy.map((file) => ({ file, bytes: packed(file) })).toSorted((a, b) => b.bytes - a.bytes);
  const strays = chunks.filter(({ file }) => home.includes(file)).flatMap(({ modules }) => modules.filter((module) => CHAT_ONLY.test(module)));
  const circles = chunks.filter(({ file, imports }) => closure(chunks, imports).includes(file)).map(({ file, imports }) => [file, ...imports.filter((other) => closure(chunks, [other]).includes(file))]);
  return { home: sum(home), chat: sum(chat), parts, strays, circles };
}

export function failures({ home, chat, parts, strays, circles }) {
  return [
    ...circles.map((files) => `these files import each other, so one of them begins without the other: ${files.join(', ')}`),
    ...(home > BUDGETS.home ? [`the home page has ${home} bytes; its budget is ${BUDGETS.home}`] : []),
    ...(chat > BUDGETS.chat ? [`the chat page has ${chat} bytes; its budget is ${BUDGETS.chat}`] : []),
    ...parts.filter(({ bytes }) => bytes > BUDGETS.part).map(({ file, bytes }) => `${file} has ${bytes} bytes; its budget is ${BUDGETS.part}`),
    ...strays.map((module) => `the home page loads code of the chat: ${module.replace(web, '')}`),
  ];
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const sizes = measure();
  const kb = (bytes) => `${(bytes / KB).toFixed(1)} KB`;
  console.log(`home ${kb(sizes.home)} of ${kb(BUDGETS.home)}, chat ${kb(sizes.chat)} of ${kb(BUDGETS.chat)}, largest part ${kb(sizes.parts[0].bytes)} of ${kb(BUDGETS.part)} (${sizes.parts[0].file}), gzip`);
  const failed = failures(sizes);
  for (const failure of failed) console.error(failure);
  process.exitCode = failed.length > 0 ? 1 : 0;
}
