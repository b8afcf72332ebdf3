import { expect, test } from 'vitest';
import type { FileNode } from '@/lib/api/types';
import { narrowed, rowsOf, step, type Folder } from './tree';

const leaf = (path: string): FileNode => ({ name: path.split('/').at(-1) ?? '', path, file_type: 'document' });
const folder = (path: string, ...children: FileNode[]): FileNode => ({ name: path.split('/').at(-1) ?? '', path, file_type: 'folder', children });
const known = (...nodes: FileNode[]): Map<string, Folder> => new Map(nodes.map((node) => [node.path, { node, error: null }]));
const root = folder('/', folder('/src'), leaf('/a.md'));
const src = folder('/src', folder('/src/lib'), leaf('/src/b.rs'));

test('rows are those of open folders, each below its folder', () => {
  expect(rowsOf(known(root, src), new Set()).map((row) => row.node.path)).toEqual(['/src', '/a.md']);
  const rows = rowsOf(known(root, src), new Set(['/src']));
  expect(rows.map((row) => [row.node.path, row.depth])).toEqual([['/src', 1], ['/src/lib', 2], ['/src/b.rs', 2], ['/a.md', 1]]);
});

test('an open folder that is not there yet is loading, one that can not be read says why', () => {
  expect(rowsOf(known(root), new Set(['/src']))[0]).toMatchObject({ isOpen: true, isLoading: true });
  const failed = new Map(known(root)).set('/src', { node: undefined, error: new Error('No.') });
  expect(rowsOf(failed, new Set(['/src']))[0]).toMatchObject({ isLoading: false, error: new Error('No.') });
});

test('keys lead down, up, into folders and out of them, and nowhere beyond the ends', () => {
  const rows = rowsOf(known(root, src), new Set(['/src']));
  expect(step(rows, '/src', 'ArrowDown')).toBe('/src/lib');
  expect(step(rows, '/src', 'ArrowRight')).toBe('/src/lib');
  expect(step(rows, '/src/b.rs', 'ArrowLeft')).toBe('/src');
  expect(step(rows, '/src/b.rs', 'ArrowRight')).toBeUndefined();
  expect(step(rows, '/src', 'ArrowLeft')).toBeUndefined();
  expect(step(rows, '/src', 'ArrowUp')).toBeUndefined();
  expect(step(rows, '/src', 'End')).toBe('/a.md');
  expect(step(rows, '/a.md', 'ArrowDown')).toBeUndefined();
  expect(step(rows, '/a.md', 'Home')).toBe('/src');
});

test('folders come first, numbers count as numbers, and what git keeps is left out', () => {
  const mixed = folder('/', leaf('/v10.md'), folder('/.git'), leaf('/v9.md'), leaf('/A.md'), folder('/src'), folder('/docs'));
  expect(rowsOf(known(mixed), new Set()).map((row) => row.node.name)).toEqual(['docs', 'src', 'A.md', 'v9.md', 'v10.md']);
});

test('narrowed down, rows are left with the folders they are in', () => {
  const rows = rowsOf(known(root, src), new Set(['/src']));
  const left = (sought: string) => narrowed(rows, sought).map((row) => row.node.path);
  expect(left(' B.R ')).toEqual(['/src', '/src/b.rs']);
  expect(left('')).toHaveLength(4);
  expect(left('nothing')).toEqual([]);
});
