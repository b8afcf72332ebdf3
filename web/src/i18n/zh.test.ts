// Chinese text uses full-width marks; half-width ones are for code, paths, times and figures.
import { expect, test } from 'vitest';
import { LOADERS, type WordSet } from './sets';

const SETS = Object.keys(LOADERS.en) as WordSet[];
const texts = (words: object, at: string): [string, string][] =>
  Object.entries(words).flatMap(([key, value]) => (typeof value === 'string' ? [[`${at}.${key}`, value] as [string, string]] : texts(value as object, `${at}.${key}`)));
const all = async (locale: 'en' | 'zh') => (await Promise.all(SETS.map(async (set) => texts(await LOADERS[locale][set](), set)))).flat();
const [EN, ZH] = [await all('en'), await all('zh')];

test('both languages have the same words', () => {
  // The words of roles are the server's, in English.
  expect(ZH.map(([key]) => key).filter((key) => !key.startsWith('first.roles.')).toSorted()).toEqual(EN.map(([key]) => key).toSorted());
});

test('both languages fill in the same values', () => {
  const slots = (text: string) => [...text.matchAll(/\{(\w+)/g)].map(([, name]) => name).toSorted();
  const english = new Map(EN);
  // Chinese has one plural, so a count that English names only to choose a word may be left out.
  const missing = ZH.filter(([key, text]) => slots(text).some((name) => !slots(english.get(key) ?? '').includes(name)));
  expect(missing).toEqual([]);
});

test('no half-width mark stands beside a Han character, or beside a value between them', () => {
  const isWrong = (text: string) => /\p{Script=Han}[,:;?!()]|[,:;?!()]\p{Script=Han}/u.test(text);
  const filled = (text: string) => (/\p{Script=Han}/u.test(text) ? text.replace(/\{[^}]*\}/g, '字') : text);
  expect(ZH.filter(([, text]) => isWrong(text) || isWrong(filled(text)))).toEqual([]);
});

test('no space stands beside a full-width mark', () => {
  expect(ZH.filter(([, text]) => / [，。：；？！（）]|[，。：；？！（）] /.test(text))).toEqual([]);
});

test('a space parts Han from Latin letters and figures', () => {
  expect(ZH.filter(([, text]) => /\p{Script=Han}[A-Za-z0-9]|[A-Za-z0-9]\p{Script=Han}/u.test(text))).toEqual([]);
});
