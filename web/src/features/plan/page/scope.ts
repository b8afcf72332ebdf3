// The files that a plan names, as a tree.
import { inWorkspace } from '@/lib/paths';

/** Whether the plan would make the file or change it; null where that is not known. */
export type FileSign = 'new' | 'changed' | null;

export interface ScopeNode {
  /** One name, or several where a folder has nothing else in it. */
  name: string;
  path: string;
  isFolder: boolean;
  children: ScopeNode[];
  /** How many of its files are new, and how many are changed. */
  counts: { files: number; fresh: number; changed: number };
}

export const isGlob = (path: string) => /[*?{[]/.test(path);
/** As a key: the same file is often written with and without the first slash. */
export const pathKey = (path: string) => inWorkspace(path, undefined);
export const folderOf = (path: string) => path.slice(0, path.lastIndexOf('/')) || '/';

interface Folder {
  folders: Map<string, Folder>;
  files: Map<string, string>;
}

export function scopeTree(paths: readonly string[], signOf: (path: string) => FileSign): ScopeNode[] {
  const root: Folder = { folders: new Map(), files: new Map() };
  for (const path of new Set(paths.map(pathKey))) {
    const parts = path.split('/').filter((part) => part !== '');
    const name = parts.pop();
    if (name === undefined) continue;
    let folder = root;
    for (const part of parts) {
      const next = folder.folders.get(part) ?? { folders: new Map(), files: new Map() };
      folder.folders.set(part, next);
      folder = next;
    }
    folder.files.set(name, path);
  }
  return nodesOf(root, '', signOf);
}

const order = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });

function nodesOf(folder: Folder, above: string, signOf: (path: string) => FileSign): ScopeNode[] {
  const folders = [...folder.folders].toSorted(([a], [b]) => order.compare(a, b)).map(([name, inside]) => folderNode(name, `${above}/${name}`, nodesOf(inside, `${above}/${name}`, signOf)));
  const files = [...folder.files].toSorted(([a], [b]) => order.compare(a, b)).map(([name, path]): ScopeNode => {
    const sign = signOf(path);
    return { name, path, isFolder: false, children: [], counts: { files: 1, fresh: Number(sign === 'new'), changed: Number(sign === 'changed') } };
  });
  return [...folders, ...files];
}

function folderNode(name: string, path: string, children: ScopeNode[]): ScopeNode {
  const [only] = children;
  // A folder with one thing in it is a part of that one's name.
  if (only && children.length === 1) return { ...only, name: `${name}/${only.name}` };
  const sum = (count: keyof ScopeNode['counts']) => children.reduce((total, child) => total + child.counts[count], 0);
  return { name, path, isFolder: true, children, counts: { files: sum('files'), fresh: sum('fresh'), changed: sum('changed') } };
}

export interface ScopeRow {
  node: ScopeNode;
  depth: number;
  isOpen: boolean;
}

export function scopeRows(nodes: readonly ScopeNode[], isOpen: (path: string) => boolean, depth = 1): ScopeRow[] {
  return nodes.flatMap((node) => {
    const open = node.isFolder && isOpen(node.path);
    return [{ node, depth, isOpen: open }, ...(open ? scopeRows(node.children, isOpen, depth + 1) : [])];
  });
}
