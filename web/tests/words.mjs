// The words of the web UI in a language, as its dictionaries have them, for tests that go through the same page in several languages.
import { readFileSync } from 'node:fs';

const LINE = /^ {2}(\w+): '((?:[^'\\]|\\.)*)',$/gm;

/** `say('addComment')`, `say('yourComment', { step: 3 })`; the sets are files of `src/i18n`. */
export function wordsOf(locale, ...sets) {
  const all = Object.assign({}, ...sets.map((set) => Object.fromEntries([...readFileSync(new URL(`../src/i18n/${locale}/${set}.ts`, import.meta.url), 'utf8').matchAll(LINE)].map(([, key, text]) => [key, text]))));
  return (key, values = {}) => {
    if (all[key] === undefined) throw new Error(`no words for ${key}`);
    return all[key].replaceAll(/\{count\|(\w+)\|(\w+)\}/g, (_, one, many) => (values.count === 1 ? one : many)).replaceAll(/\{lines\|(\w+)\|(\w+)\}/g, (_, one, many) => (values.lines === 1 ? one : many)).replaceAll(/\{(\w+)\}/g, (_, name) => String(values[name]));
  };
}
