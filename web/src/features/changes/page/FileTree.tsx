import { Check, ChevronDown, ChevronRight, MessageSquare } from 'lucide-react';
import { useEffect, useLayoutEffect, useRef, useState, type KeyboardEvent } from 'react';
import { useText, type Text } from '@/i18n';
import type { ChangedFile } from '@/lib/api/types';
import { useMedia } from '@/lib/layout';
import { shownName } from '@/lib/marks';
import { canBeViewed } from '../useViewed';
import type { Comments } from './comments';
import type { TreeNode } from './model';
import { nextInTree } from './treeKeys';

const STATUS: Record<ChangedFile['status'], [string, string]> = { created: ['A', 'text-act'], modified: ['M', 'text-fg2'], deleted: ['D', 'text-critical'], moved: ['R', 'text-fg2'] };
/** Deeper folders are indented no further. */
const DEEPEST = 9;
/** Rows drawn beyond each edge. */
const BEYOND = 8;

interface Props {
  nodes: TreeNode[];
  closed: ReadonlySet<string>;
  setClosed: (path: string, isClosed: boolean) => void;
  current: string | null;
  open: (path: string) => void;
  has: (file: ChangedFile) => boolean;
  /** Null for who may mark nothing. */
  view: ((file: ChangedFile, isViewed: boolean) => void) | null;
  comments: Comments;
}

/** The changed files as a tree, of which only the rows in sight are drawn. */
export function FileTree(props: Props) {
  const { nodes, closed, setClosed, current, open } = props;
  const t = useText('changesPage');
  const rowHeight = useMedia('(pointer: coarse)') ? 44 : 26;
  const tree = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 900 });
  const [focused, setFocused] = useState<string | null>(null);
  const at = Math.max(0, nodes.findIndex(({ path }) => path === (focused ?? current)));
  const update = () => {
    if (tree.current) setView({ top: tree.current.scrollTop, height: tree.current.clientHeight });
  };
  const reveal = (place: number) => {
    const node = tree.current;
    if (!node || place < 0) return;
    const top = place * rowHeight;
    if (top < node.scrollTop || top + rowHeight > node.scrollTop + node.clientHeight) node.scrollTop = Math.max(0, top - node.clientHeight / 2);
  };
  useLayoutEffect(update, []);
  const place = nodes.findIndex(({ path }) => path === current);
  useEffect(() => {
    setFocused(null);
    reveal(place);
    // Only a file that was gone to is scrolled to.
  }, [current]); // oxlint-disable-line react/exhaustive-deps
  const onKeyDown = (event: KeyboardEvent) => {
    const step = nextInTree(event, nodes, at, closed);
    if (!step) return;
    event.preventDefault();
    if (step.fold) setClosed(step.fold.path, step.fold.isClosed);
    if (step.open !== undefined) open(step.open);
    if (step.to !== undefined) {
      setFocused(nodes[step.to]?.path ?? null);
      reveal(step.to);
    }
  };
  const first = Math.max(0, Math.floor(view.top / rowHeight) - BEYOND);
  const last = Math.min(nodes.length, Math.ceil((view.top + view.height) / rowHeight) + BEYOND);
  return (
    <div ref={tree} role="tree" tabIndex={0} aria-label={t('tree')} aria-activedescendant={nodes[at] ? idOf(at) : undefined} onScroll={update} onKeyDown={onKeyDown} className="review-tree">
      <div role="presentation" className="relative" style={{ height: nodes.length * rowHeight }}>
        {nodes.slice(first, last).map((node, offset) => <TreeRow key={node.path} {...props} node={node} place={first + offset} top={(first + offset) * rowHeight} isFocused={first + offset === at} />)}
      </div>
    </div>
  );
}

const idOf = (place: number) => `changed-${place}`;

function TreeRow({ node, place, top, isFocused, closed, setClosed, current, open, has, view, comments }: Props & { node: TreeNode; place: number; top: number; isFocused: boolean }) {
  const t = useText('changesPage');
  const isOpen = !closed.has(node.path);
  const common = { id: idOf(place), role: 'treeitem', 'aria-level': node.depth, 'aria-posinset': node.place, 'aria-setsize': node.siblings, 'data-focused': isFocused || undefined, className: 'tree-row', style: { top, paddingLeft: 4 + Math.min(node.depth, DEEPEST) * 14 } };
  if (node.kind === 'folder') {
    const Fold = isOpen ? ChevronDown : ChevronRight;
    return (
      <div {...common} aria-expanded={isOpen} onClick={() => setClosed(node.path, isOpen)}>
        <Fold size={14} aria-hidden className="shrink-0" />
        <span className="name">{shownName(node.name)}</span>
        {!isOpen && <span className="text-xs text-muted">{folderWords(t, node.files, has)}</span>}
      </div>
    );
  }
  const { file } = node;
  const count = comments.all.filter(({ path }) => path === file.path).length;
  const [letter, colour] = STATUS[file.status];
  const isViewed = has(file);
  return (
    <div {...common} aria-selected={file.path === current} data-open-file={!isViewed || undefined} title={shownName(file.path)} onClick={() => open(file.path)}>
      {view && canBeViewed(file) && <span aria-hidden data-check={file.path} data-on={isViewed || undefined} className="tree-check" onClick={(event) => { event.stopPropagation(); view(file, !isViewed); }}>{isViewed && <Check size={11} strokeWidth={3} />}</span>}
      <span className="name">{shownName(node.name)}</span>
      {count > 0 && <span className="inline-flex shrink-0 items-center gap-1 text-xs"><MessageSquare size={12} aria-label={t('comments')} />{count}</span>}
      <span className="counts">
        <span className="sr-only">{isViewed ? t('isViewed') : ''}</span>
        {file.added > 0 && <span className="text-act">+{file.added}</span>}
        {file.removed > 0 && <span className="text-critical">−{file.removed}</span>}
      </span>
      <span className={`status ${colour}`}><abbr title={t(file.status)}>{letter}</abbr></span>
    </div>
  );
}

function folderWords(t: Text<'changesPage'>, files: ChangedFile[], has: (file: ChangedFile) => boolean): string {
  const viewed = files.filter(has).length;
  return viewed === files.length ? t('allViewed', { count: files.length }) : t('someViewed', { viewed, count: files.length });
}
