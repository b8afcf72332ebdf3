import { expect, test } from 'vitest';
import { filesOf, lineOf, paired, parseHunks } from './unifiedDiff';

const DIFF = 'diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@ fn one\n a\n-b\n--- c\n+B\n+++ C\n\\ No newline at end of file\n@@ -9 +9 @@\n-d\n+D\n';

test('hunks are read by their counted lines, so a deleted line that begins with dashes is no header', () => {
  const [first, second] = parseHunks(DIFF);
  expect(first?.heading).toBe('fn one');
  expect(first?.changes.map(({ type, content }) => [type, content])).toEqual([['normal', 'a'], ['delete', 'b'], ['delete', '-- c'], ['insert', 'B'], ['insert', '++ C']]);
  expect(second?.changes.map(lineOf)).toEqual([{ side: 'old', number: 9, text: 'd' }, { side: 'new', number: 9, text: 'D' }]);
  expect(parseHunks('[diff cut: 3 more bytes]')).toEqual([]);
});

test('side by side, deleted lines stand beside the added ones that follow them', () => {
  const [first] = parseHunks('@@ -1,3 +1,2 @@\n a\n-b\n-c\n+B\n');
  expect(paired(first?.changes ?? []).map((pair) => pair.map((one) => one?.content ?? null))).toEqual([['a', 'a'], ['b', 'B'], ['c', null]]);
});

test('a diff of several files is split by file; a deleted file keeps its name', () => {
  const gone = 'diff --git a/y b/y\n--- a/y\n+++ /dev/null\n@@ -1 +0,0 @@\n-z\n';
  expect(filesOf(DIFF + gone).map(({ path, hunks }) => [path, hunks.length])).toEqual([['x', 2], ['y', 1]]);
});
