import { expect, test } from 'vitest';
import { scopeRows, scopeTree } from './scope';

test('files become a tree; folders with one entry are part of its name, and the same file counts once', () => {
  const tree = scopeTree(['src/lib.rs', '/src/lib.rs', '/src/db/tx.rs', 'migrations/1.sql', 'migrations/2.sql', 'docs/**'], (path) => (path.startsWith('/migrations') ? 'new' : 'changed'));
  const rows = scopeRows(tree, () => true).map(({ node, depth }) => `${depth} ${node.name}${node.isFolder ? '/' : ''} ${node.counts.files}`);
  expect(rows).toEqual(['1 docs/** 1', '1 migrations/ 2', '2 1.sql 1', '2 2.sql 1', '1 src/ 2', '2 db/tx.rs 1', '2 lib.rs 1']);
  expect(tree.find(({ name }) => name === 'migrations')?.counts).toEqual({ files: 2, fresh: 2, changed: 0 });
  expect(scopeRows(tree, () => false)).toHaveLength(3);
});
