import { expect, test } from 'vitest';
import { cut } from './cut';

test('a text that fits stays; a longer one ends at a word', () => {
  expect(cut('four', 4)).toBe('four');
  expect(cut('one two three', 10)).toBe('one two…');
  expect(cut('one two three', 8)).toBe('one two…');
});

test('a text without spaces ends anywhere, but not inside of a character', () => {
  expect(cut('一二三四五六', 4)).toBe('一二三…');
  expect(cut('😀😀😀😀', 3)).toBe('😀😀…');
});
