// The rows of a tree of which some folders are open.
import type { FileNode } from '@/lib/api/types';

/** A folder as far as it is known. */
export interface Folder {
  node: FileNode | undefined;
  error: Error | null;
}

export interface TreeRow {
  node: FileNode;
  depth: number;
  isOpen: boolean;
  isLoading: boolean;
  error: Error | null;
}

const order = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });
/** Folders first, then by name, with `2` before `10`. What git keeps for itself is nobody's to read. */
const inOrder = (nodes: FileNode[]): FileNode[] =>
  nodes.filter(({ name }) => name !== '.git').toSorted((a, b) => Number(b.file_type === 'folder') - Number(a.file_type === 'folder') || order.compare(a.name, b.name));

/** What is shown, from the top down. `folders` are those that were asked for, by path. */
export function rowsOf(folders: Map<string, Folder>, open: ReadonlySet<string>, path = '/', depth = 1): TreeRow[] {
  const children = inOrder(folders.get(path)?.node?.children ?? []);
  return children.flatMap((node) => {
    const isOpen = node.file_type === 'folder' && open.has(node.path);
    const folder = folders.get(node.path);
    const row: TreeRow = { node, depth, isOpen, isLoading: isOpen && !folder?.node && !folder?.error, error: isOpen ? (folder?.error ?? null) : null };
    return isOpen ? [row, ...rowsOf(folders, open, node.path, depth + 1)] : [row];
  });
}

/** The rows that have the words in their names, with the folders that they are in. */
export function narrowed(rows: TreeRow[], sought: string): TreeRow[] {
  const low = sought.trim().toLowerCase();
  if (low === '') return rows;
  const kept: TreeRow[] = [];
  for (const row of rows.toReversed()) {
    const below = kept.at(-1);
    if (row.node.name.toLowerCase().includes(low) || below?.node.path.startsWith(`${row.node.path}/`)) kept.push(row);
  }
  return kept.reverse();
}

/** Where a key leads from a row; nothing where it leads nowhere. */
export function step(rows: TreeRow[], from: string, key: string): string | undefined {
  const at = rows.findIndex((row) => row.node.path === from);
  const [row, next] = [rows[at], rows[at + 1]];
  switch (key) {
    case 'ArrowDown': return next?.node.path;
    case 'ArrowUp': return rows[at - 1]?.node.path;
    case 'Home': return rows[0]?.node.path;
    case 'End': return rows.at(-1)?.node.path;
    // Into the folder; out of it.
    case 'ArrowRight': return row?.isOpen && next && next.depth > row.depth ? next.node.path : undefined;
    case 'ArrowLeft': return row && !row.isOpen ? rows.slice(0, at).findLast((one) => one.depth < row.depth)?.node.path : undefined;
    default: return undefined;
  }
}
