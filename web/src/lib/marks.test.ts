import { expect, test } from 'vitest';
import { shownName, shownText } from './marks';

test('marks that turn or hide parts of a name are shown by their numbers', () => {
  expect(shownName('invoice\u202efdp.exe')).toBe('invoice⟨U+202E⟩fdp.exe');
  expect(shownName('a\u200bb\u2066c\u00add\ne')).toBe('a⟨U+200B⟩b⟨U+2066⟩c⟨U+00AD⟩d⟨U+000A⟩e');
  expect(shownName('\ufeff\u3164x')).toBe('⟨U+FEFF⟩⟨U+3164⟩x');
});

test('names in any writing stay as they are', () => {
  for (const name of ['src/lib.rs', '报告 2026.pdf', 'تقرير.txt', 'naïve café.md', '😀.png']) expect(shownName(name)).toBe(name);
});

test('lines of a text stay lines', () => {
  expect(shownText('a\n\tb\u202ec')).toBe('a\n\tb⟨U+202E⟩c');
});
