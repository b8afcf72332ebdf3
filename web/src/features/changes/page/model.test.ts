import { expect, test } from 'vitest';
import type { ChangedFile, Image, Message } from '@/lib/api/types';
import { causesOf, filtered, OUTSIDE, stepsOf, treeOf } from './model';
import { offsetsOf, rowAt, rowsOf, type Row } from './rows';
import { nextInTree } from './treeKeys';

const FILE: Image = { kind: 'file', mode: 420, sha256: 'a' };
const file = (path: string, more: Partial<ChangedFile> = {}): ChangedFile => ({ path, status: 'modified', before: FILE, after: FILE, diff: '', added: 1, removed: 1, binary: false, truncated: false, reverted: false, messages: [], ...more });
const said = (id: string): Message => ({ id, chat_id: 'c', author: 'user', agent_role: null, message_type: 'text', content: id, metadata: {}, created_at: '2026-01-01T00:00:00Z' });
const ALL = { name: '', step: null, message: null };
const paths = (files: ChangedFile[]) => files.map(({ path }) => path);

test('the tree has folders first, hides what is in a closed one, and keeps the order of all files', () => {
  const { nodes, order } = treeOf([file('/b.rs'), file('/src/x/a.rs'), file('/src/b.rs')], new Set(['/src/x']));
  expect(nodes.map(({ path, depth }) => `${depth} ${path}`)).toEqual(['1 /src', '2 /src/x', '2 /src/b.rs', '1 /b.rs']);
  expect(paths(order)).toEqual(['/src/x/a.rs', '/src/b.rs', '/b.rs']);
});

test('files are filtered by name, step, scope and the message that set them off', () => {
  const files = [file('/a', { step: 2, messages: ['02'] }), file('/b', { step: 1, messages: ['02', '04'] }), file('/c', { messages: ['04'], outside_plan: true })];
  const words = [said('01'), said('03')];
  expect(stepsOf(files)).toEqual([1, 2, 0, OUTSIDE]);
  expect(paths(filtered(files, { ...ALL, step: 2 }, words))).toEqual(['/a']);
  expect(paths(filtered(files, { ...ALL, step: 0 }, words))).toEqual(['/c']);
  expect(paths(filtered(files, { ...ALL, step: OUTSIDE }, words))).toEqual(['/c']);
  expect(paths(filtered(files, { ...ALL, name: 'B' }, words))).toEqual(['/b']);
  expect(paths(filtered(files, { ...ALL, message: '03' }, words))).toEqual(['/b', '/c']);
  expect(causesOf(files, words)).toEqual([{ id: '03', words: '03', count: 2 }, { id: '01', words: '01', count: 2 }]);
});

test('the arrow keys of the tree open, close and climb', () => {
  const { nodes } = treeOf([file('/src/a.rs'), file('/b.rs')], new Set());
  const press = (key: string, at: number, closed = new Set<string>()) => nextInTree({ key, ctrlKey: false, metaKey: false, altKey: false }, nodes, at, closed);
  expect(press('ArrowLeft', 1)).toEqual({ to: 0 });
  expect(press('ArrowLeft', 0)).toEqual({ to: 0, fold: { path: '/src', isClosed: true } });
  expect(press('ArrowRight', 0, new Set(['/src']))).toEqual({ to: 0, fold: { path: '/src', isClosed: false } });
  expect(press('Enter', 1)).toEqual({ open: '/src/a.rs' });
  expect(press('End', 0)).toEqual({ to: 2 });
});

test('rows know where they are, also when one of them was measured', () => {
  const sizes = { head: 30, hunk: 20, line: 10, columns: 80 };
  const rows: Row[] = rowsOf({ file: file('/a'), loaded: undefined, isFolded: false, isSplit: false, drafts: [], sizes });
  expect(rows.map(({ kind, height }) => [kind, height])).toEqual([['head', 30], ['note', 80]]);
  const lines: Row[] = rows.map((row) => ({ ...row, isMeasured: true }));
  const offsets = offsetsOf(lines, new Map([['/a\0head', 50]]));
  expect([...offsets]).toEqual([0, 50, 130]);
  expect([0, 49, 50, 999].map((top) => rowAt(offsets, top))).toEqual([0, 0, 1, 1]);
});
