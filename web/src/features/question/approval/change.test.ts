import { expect, test } from 'vitest';
import { changeOf, type LineChange, type Present } from './change';

const file = (content: string): Present => ({ state: 'text', content });
const absent: Present = { state: 'absent' };
const lines = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}\n`).join('');
/** Rows as `before after sign text`, and gaps as their size. */
const drawn = ({ rows }: LineChange) =>
  rows.map((row) => ('hidden' in row ? `… ${row.hidden}` : `${row.before ?? ''} ${row.after ?? ''} ${{ same: '=', added: '+', removed: '-' }[row.change]} ${row.text}`));

test('writing over a file shows what changes in it, with numbers and the lines around', () => {
  const change = changeOf('write', { content: `${lines(1, 9)}ten\n${lines(11, 20)}` }, file(lines(1, 20)));
  expect(drawn(change)).toEqual(['… 6', '7 7 = line 7', '8 8 = line 8', '9 9 = line 9', '10  - line 10', ' 10 + ten', '11 11 = line 11', '12 12 = line 12', '13 13 = line 13', '… 7']);
  expect(change).toMatchObject({ added: 1, removed: 1, isNew: false });
});

test('a new file is all new', () => {
  expect(changeOf('write', { content: 'a\nb\n' }, absent)).toMatchObject({ added: 2, removed: 0, isNew: true });
});

test('an edit has the numbers of its place in the file', () => {
  const change = changeOf('edit', { old_string: 'line 3', new_string: 'three' }, file(lines(1, 5)));
  expect(drawn(change)).toEqual(['1 1 = line 1', '2 2 = line 2', '3  - line 3', ' 3 + three', '4 4 = line 4', '5 5 = line 5']);
  expect(change.note).toBeUndefined();
});

test('an edit of all places says how many there are, and shows each', () => {
  const change = changeOf('edit', { old_string: 'x', new_string: '$&', replace_all: true }, file(`x\n${lines(2, 20)}x\n`));
  expect(change).toMatchObject({ note: 'replacesAll', places: 2, added: 2, removed: 2 });
  expect(drawn(change).filter((row) => row.includes('+'))).toEqual([' 1 + $&', ' 21 + $&']);
});

test('an edit that would fail says so: its text is missing, or occurs more than once', () => {
  const args = { old_string: 'x', new_string: 'y' };
  expect(changeOf('edit', args, file('a\n')).note).toBe('notFound');
  expect(changeOf('edit', args, absent).note).toBe('notFound');
  expect(changeOf('edit', args, file('x\nx\n'))).toMatchObject({ note: 'ambiguous', places: 2 });
});

test('a file that is not text, or is unreadable, is reported', () => {
  for (const state of ['noText', 'unknown'] as const) expect(changeOf('write', { content: 'a\n' }, { state })).toMatchObject({ note: state, added: 1 });
});

test('line ends of Windows are no change, a missing one at the end is', () => {
  expect(changeOf('write', { content: 'a\nb\n' }, file('a\r\nb\r\n'))).toMatchObject({ rows: [{ hidden: 2 }], added: 0, removed: 0 });
  const change = changeOf('write', { content: 'a\nb' }, file('a\nb\n'));
  expect(change).toMatchObject({ added: 1, removed: 1 });
  expect(change.rows.at(-1)).toMatchObject({ text: 'b', isOpen: true });
});

test('a very long text is cut, and says by how much', () => {
  const { rows } = changeOf('write', { content: 'x\n'.repeat(5000) }, absent);
  expect(rows).toHaveLength(2001);
  expect(rows.at(-1)).toEqual({ hidden: 3000 });
});
