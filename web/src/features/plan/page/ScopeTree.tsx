import { ChevronRight } from 'lucide-react';
import { type KeyboardEvent, useMemo, useRef, useState } from 'react';
import { useText } from '@/i18n';
import { shownName } from '@/lib/marks';
import { useReview } from './review';
import { isGlob, type ScopeNode, type ScopeRow, scopeRows, scopeTree } from './scope';

/** More files than this begin folded. */
const FEW = 16;

/** The files that the plan names, by folder. */
export function ScopeTree() {
  const t = useText('planPage');
  const { plan, signOf, preview } = useReview();
  const files = useMemo(() => plan.steps.flatMap((step) => step.files), [plan]);
  const tree = useMemo(() => scopeTree(files, signOf), [files, signOf]);
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const [reached, setReached] = useState('');
  const frame = useRef<HTMLUListElement>(null);
  const isFew = new Set(files).size <= FEW;
  const rows = scopeRows(tree, (path) => isFew !== toggled.has(path));
  const current = rows.some(({ node }) => node.path === reached) ? reached : rows[0]?.node.path;
  const toggle = (path: string) => setToggled((before) => (before.has(path) ? new Set([...before].filter((one) => one !== path)) : new Set([...before, path])));
  const act = ({ path, isFolder }: ScopeNode) => {
    setReached(path);
    if (isFolder) toggle(path);
    else if (!isGlob(path)) preview(path);
  };
  const onKeyDown = (event: KeyboardEvent, row: ScopeRow) => {
    const next = reachedBy(event.key, rows, row);
    if (next) {
      setReached(next);
      frame.current?.querySelector<HTMLElement>(`[data-path="${CSS.escape(next)}"]`)?.focus();
    } else if (event.key === 'Enter' || event.key === ' ') act(row.node);
    else if (row.node.isFolder && ((event.key === 'ArrowRight' && !row.isOpen) || (event.key === 'ArrowLeft' && row.isOpen))) toggle(row.node.path);
    else return;
    event.preventDefault();
  };
  if (rows.length === 0) return <p className="text-fg2">{t('noScope')}</p>;
  return (
    <ul ref={frame} role="tree" aria-label={t('tree')}>
      {rows.map((row) => <Row key={row.node.path} row={row} isReached={row.node.path === current} act={act} onKeyDown={onKeyDown} />)}
    </ul>
  );
}

/** The path that a key leads to: up, down, to the ends, into and out of a folder, or to the next name with that letter. */
function reachedBy(key: string, rows: ScopeRow[], row: ScopeRow): string | undefined {
  const at = rows.indexOf(row);
  if (key === 'ArrowDown') return rows[at + 1]?.node.path;
  if (key === 'ArrowUp') return rows[at - 1]?.node.path;
  if (key === 'Home') return rows[0]?.node.path;
  if (key === 'End') return rows.at(-1)?.node.path;
  if (key === 'ArrowRight' && row.isOpen) return rows[at + 1]?.node.path;
  if (key === 'ArrowLeft' && !row.isOpen) return rows.slice(0, at).findLast((one) => one.depth < row.depth)?.node.path;
  const begins = ({ node }: ScopeRow) => node.name.toLowerCase().startsWith(key.toLowerCase());
  return key.length === 1 && key !== ' ' ? (rows.slice(at + 1).find(begins) ?? rows.find(begins))?.node.path : undefined;
}

interface RowProps {
  row: ScopeRow;
  isReached: boolean;
  act: (node: ScopeNode) => void;
  onKeyDown: (event: KeyboardEvent, row: ScopeRow) => void;
}

function Row({ row, isReached, act, onKeyDown }: RowProps) {
  const { node, depth, isOpen } = row;
  return (
    <li
      role="treeitem"
      aria-level={depth}
      aria-expanded={node.isFolder ? isOpen : undefined}
      data-path={node.path}
      tabIndex={isReached ? 0 : -1}
      onClick={() => act(node)}
      onKeyDown={(event) => onKeyDown(event, row)}
      style={{ paddingLeft: (depth - 1) * 14 + 4 }}
      className="flex min-h-6.5 cursor-default items-center gap-1.5 rounded-sm pr-1 hover:bg-surface pointer-coarse:min-h-11"
    >
      {node.isFolder ? <ChevronRight className={`size-3.5 shrink-0 text-muted ${isOpen ? 'rotate-90' : ''}`} aria-hidden="true" /> : <span className="w-3.5 shrink-0" />}
      <code title={shownName(node.path)} className="min-w-0 flex-1 truncate text-[11.5px]">{shownName(node.name)}{node.isFolder && '/'}</code>
      <ScopeCounts node={node} />
    </li>
  );
}

/** How many files are new and changed; of a file only which. */
export function ScopeCounts({ node }: { node: Pick<ScopeNode, 'isFolder' | 'counts'> }) {
  const t = useText('planPage');
  const { fresh, changed } = node.counts;
  const figure = (count: number) => (node.isFolder ? count : '');
  return (
    <span className="flex shrink-0 gap-1.5 text-xs">
      {fresh > 0 && <span className="text-act"><span aria-hidden>+{figure(fresh)}</span><span className="sr-only">{t('countNew', { count: fresh })}</span></span>}
      {changed > 0 && <span className="text-muted"><span aria-hidden>~{figure(changed)}</span><span className="sr-only">{t('countChanged', { count: changed })}</span></span>}
    </span>
  );
}
