// Chinese text uses full-width marks; half-width ones are for code, paths, times and figures.
import { expect, test } from 'vitest';
import { words as settings } from '@/features/settings/words';
import { words as workspace } from '@/features/workspace/words';
import { zh } from './zh';

const texts = (words: object): [string, string][] => Object.entries(words).flatMap(([key, value]) => (typeof value === 'string' ? [[key, value] as [string, string]] : texts(value as object)));
const ALL = [zh, settings.zh, workspace.zh].flatMap(texts);

test('no half-width mark stands beside a Han character, or beside a value between them', () => {
  const isWrong = (text: string) => /\p{Script=Han}[,:;?!()]|[,:;?!()]\p{Script=Han}/u.test(text);
  const filled = (text: string) => (/\p{Script=Han}/u.test(text) ? text.replace(/\{[^}]*\}/g, '字') : text);
  expect(ALL.filter(([, text]) => isWrong(text) || isWrong(filled(text)))).toEqual([]);
});

test('no space stands beside a full-width mark', () => {
  expect(ALL.filter(([, text]) => / [，。：；？！（）]|[，。：；？！（）] /.test(text))).toEqual([]);
});

test('a space parts Han from Latin letters and figures', () => {
  expect(ALL.filter(([, text]) => /\p{Script=Han}[A-Za-z0-9]|[A-Za-z0-9]\p{Script=Han}/u.test(text))).toEqual([]);
});
