// The keys of a tree: arrows, Home, End, Enter, and typing the beginning of a name. Pure.
import type { TreeNode } from './model';

interface Step {
  to?: number;
  fold?: { path: string; isClosed: boolean };
  open?: string;
}

interface Pressed {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
}

export function nextInTree({ key, ctrlKey, metaKey, altKey }: Pressed, nodes: TreeNode[], at: number, closed: ReadonlySet<string>): Step | null {
  const node = nodes[at];
  if (!node || ctrlKey || metaKey || altKey) return null;
  const isOpen = node.kind === 'folder' && !closed.has(node.path);
  switch (key) {
    case 'ArrowDown': return { to: Math.min(nodes.length - 1, at + 1) };
    case 'ArrowUp': return { to: Math.max(0, at - 1) };
    case 'Home': return { to: 0 };
    case 'End': return { to: nodes.length - 1 };
    case 'ArrowRight': return node.kind === 'file' ? null : isOpen ? { to: Math.min(nodes.length - 1, at + 1) } : { to: at, fold: { path: node.path, isClosed: false } };
    case 'ArrowLeft': return isOpen ? { to: at, fold: { path: node.path, isClosed: true } } : { to: Math.max(0, nodes.findLastIndex((one, place) => place < at && one.depth < node.depth)) };
    case 'Enter':
    case ' ': return node.kind === 'file' ? { open: node.path } : { to: at, fold: { path: node.path, isClosed: isOpen } };
    default: return null;
  }
}
