// Which changed files the page lists, and as which tree. Pure.
import type { ChangedFile, Message } from '@/lib/api/types';

/** Steps that are none: the file changed in no step, or is outside the plan. */
const NO_STEP = 0;
export const OUTSIDE = -1;

/** What narrows the list down. */
export interface Filter {
  name: string;
  step: number | null;
  message: string | null;
}

/** A message of the user that set off changes, and how many files they touched. */
export interface Cause {
  id: string;
  words: string;
  count: number;
}

const isWord = (message: Message) => message.author === 'user' && message.metadata.question_answer === undefined;

/** The message that set off a change: the newest before it. Ids grow with time. */
function causeOf(words: Message[], change: string): Message | undefined {
  return words.findLast((word) => word.id < change);
}

/** Newest first. Changes whose message is not loaded have no cause. */
export function causesOf(files: ChangedFile[], messages: Message[]): Cause[] {
  const words = messages.filter(isWord);
  const counts = new Map<string, number>();
  for (const file of files) {
    const ids = new Set(file.messages?.flatMap((id) => causeOf(words, id)?.id ?? []) ?? []);
    for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return words.filter(({ id }) => counts.has(id)).map(({ id, content }) => ({ id, words: content, count: counts.get(id) ?? 0 })).toReversed();
}

export function filtered(files: ChangedFile[], { name, step, message }: Filter, messages: Message[]): ChangedFile[] {
  const sought = name.trim().toLowerCase();
  const words = message === null ? [] : messages.filter(isWord);
  return files.filter(
    (file) =>
      (sought === '' || file.path.toLowerCase().includes(sought)) &&
      (step === null || (step === OUTSIDE ? file.outside_plan === true : (file.step ?? NO_STEP) === step)) &&
      (message === null || (file.messages ?? []).some((id) => causeOf(words, id)?.id === message)),
  );
}

/** The steps in which files changed, then what belongs to none. */
export function stepsOf(files: ChangedFile[]): number[] {
  const steps = new Set(files.map((file) => file.step ?? NO_STEP));
  const real = [...steps].filter((step) => step > 0).toSorted((one, other) => one - other);
  return [...real, ...(steps.has(NO_STEP) ? [NO_STEP] : []), ...(files.some((file) => file.outside_plan) ? [OUTSIDE] : [])];
}

interface FolderNode {
  kind: 'folder';
  path: string;
  name: string;
  depth: number;
  /** Of the files in it, at any depth. */
  files: ChangedFile[];
}

interface FileNode {
  kind: 'file';
  path: string;
  name: string;
  depth: number;
  file: ChangedFile;
}

export type TreeNode = (FolderNode | FileNode) & { place: number; siblings: number };

interface Branch {
  folders: Map<string, Branch>;
  files: ChangedFile[];
}

const grown = (): Branch => ({ folders: new Map(), files: [] });

function branchOf(files: ChangedFile[]): Branch {
  const root = grown();
  for (const file of files) {
    const parts = file.path.split('/').filter((part) => part !== '');
    let at = root;
    for (const part of parts.slice(0, -1)) {
      const next = at.folders.get(part) ?? grown();
      at.folders.set(part, next);
      at = next;
    }
    at.files.push(file);
  }
  return root;
}

const nameOf = (path: string) => path.slice(path.lastIndexOf('/') + 1);
const byName = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0);

interface Walked {
  nodes: TreeNode[];
  /** Every file, in the order in which the tree shows them. */
  order: ChangedFile[];
}

/** The tree as the rows that are seen: folders first, each by name. What is in a closed folder is not in `nodes`. */
export function treeOf(files: ChangedFile[], closed: ReadonlySet<string>): Walked {
  const walked: Walked = { nodes: [], order: [] };
  const walk = (branch: Branch, path: string, depth: number, isShown: boolean): ChangedFile[] => {
    const inside: ChangedFile[] = [];
    const folders = [...branch.folders].toSorted(([one], [other]) => byName(one, other));
    const own = branch.files.toSorted((one, other) => byName(one.path, other.path));
    const siblings = folders.length + own.length;
    folders.forEach(([name, folder], place) => {
      const node: TreeNode = { kind: 'folder', path: `${path}/${name}`, name, depth, files: [], place: place + 1, siblings };
      if (isShown) walked.nodes.push(node);
      node.files = walk(folder, node.path, depth + 1, isShown && !closed.has(node.path));
      inside.push(...node.files);
    });
    own.forEach((file, place) => {
      if (isShown) walked.nodes.push({ kind: 'file', path: file.path, name: nameOf(file.path), depth, file, place: folders.length + place + 1, siblings });
      walked.order.push(file);
      inside.push(file);
    });
    return inside;
  };
  walk(branchOf(files), '', 1, true);
  return walked;
}
