import { ChevronRight, CircleAlert, FolderOpen, Link2, LoaderCircle } from 'lucide-react';
import { useRef, useState, type KeyboardEvent } from 'react';
import { Empty } from '@/components/Empty';
import { Failed } from '@/components/Failed';
import { Skeleton } from '@/components/Skeleton';
import { useText } from '@/i18n';
import { iconOf } from './icons';
import { narrowed, step, type TreeRow } from './tree';
import { useTree } from './useTree';
import { useProblemLine } from '@/lib/problems';
import { shownName } from '@/lib/marks';

/** From so many rows on they can be narrowed down. */
const MANY = 50;

/** The files of the workspace; folders are looked into when they are opened. */
export function FileTree({ show }: { show: (path: string) => void }) {
  const t = useText('files');
  const { root, rows: all, toggle, retry } = useTree();
  const [sought, setSought] = useState('');
  const frame = useRef<HTMLUListElement>(null);
  const [focused, setFocused] = useState('');
  if (root?.error) return <Failed error={root.error} retry={retry} />;
  if (!root?.node) return <Skeleton rows={6} />;
  if (all.length === 0) return <Empty icon={<FolderOpen size={24} aria-hidden />} title={t('empty')} hint={t('emptyHint')} />;
  const rows = narrowed(all, sought);
  const reached = rows.some((row) => row.node.path === focused) ? focused : rows[0]?.node.path;
  const act = ({ node }: TreeRow) => {
    if (node.is_special) return;
    if (node.file_type === 'folder') toggle(node.path);
    else show(node.path);
  };
  const onKeyDown = (event: KeyboardEvent, row: TreeRow) => {
    const isFolder = row.node.file_type === 'folder' && !row.node.is_special;
    const next = step(rows, row.node.path, event.key);
    if (next !== undefined) {
      setFocused(next);
      frame.current?.querySelector<HTMLElement>(`[data-path="${CSS.escape(next)}"]`)?.focus();
    } else if (event.key === 'Enter' || event.key === ' ') act(row);
    else if (isFolder && ((event.key === 'ArrowRight' && !row.isOpen) || (event.key === 'ArrowLeft' && row.isOpen))) toggle(row.node.path);
    else return;
    event.preventDefault();
  };
  return (
    <>
      {(all.length > MANY || sought !== '') && (
        <input type="search" value={sought} onChange={(event) => setSought(event.target.value)} placeholder={t('filter')} aria-label={t('filter')} className="mx-2 mt-2 min-h-8 w-[calc(100%-1rem)] rounded-sm border border-control bg-bg px-2.5 placeholder:text-muted" />
      )}
      {rows.length === 0 && <p role="status" className="px-3 py-2 text-muted">{t('noneNamed', { text: sought.trim() })}</p>}
      <ul ref={frame} role="tree" aria-label={t('tree')} className="p-2 empty:hidden">
        {rows.map((row) => <Row key={row.node.path} row={row} isReached={row.node.path === reached} onKeyDown={onKeyDown} act={() => { setFocused(row.node.path); act(row); }} />)}
        {root.node.is_cut && <li role="none" className="px-2 py-1 text-sm text-muted">{t('cut')}</li>}
      </ul>
    </>
  );
}

interface RowProps {
  row: TreeRow;
  isReached: boolean;
  onKeyDown: (event: KeyboardEvent, row: TreeRow) => void;
  act: () => void;
}

function Row({ row, isReached, onKeyDown, act }: RowProps) {
  const t = useText('files');
  const lineOf = useProblemLine();
  const { node, depth, isOpen } = row;
  const isFolder = node.file_type === 'folder' && !node.is_special;
  const [Plain, colour] = iconOf(node);
  const Icon = node.is_special ? Link2 : isOpen ? FolderOpen : Plain;
  return (
    <li
      role="treeitem"
      aria-level={depth}
      aria-expanded={isFolder ? isOpen : undefined}
      aria-disabled={node.is_special ?? false}
      data-path={node.path}
      data-type={node.file_type}
      title={node.is_special ? t('specialHint') : undefined}
      tabIndex={isReached ? 0 : -1}
      onClick={act}
      onKeyDown={(event) => onKeyDown(event, row)}
      style={{ paddingLeft: (depth - 1) * 16 + 4 }}
      className="flex min-h-7 cursor-default items-center gap-1.5 rounded-sm pr-2 text-sm hover:bg-surface aria-disabled:text-muted pointer-coarse:min-h-11"
    >
      <ChevronRight size={14} aria-hidden className={`shrink-0 text-muted transition-transform ${isOpen ? 'rotate-90' : ''} ${isFolder ? '' : 'invisible'}`} />
      <Icon size={15} aria-hidden className={`shrink-0 ${colour}`} />
      <span className="min-w-0 truncate">{shownName(node.name)}</span>
      {node.file_type !== 'folder' && node.file_type !== 'document' && <span className={`ml-auto shrink-0 text-xs ${colour}`}>{t(node.file_type)}</span>}
      {node.is_special && <span className="ml-auto shrink-0 text-xs">{t('special')}</span>}
      {row.isLoading && <LoaderCircle size={13} aria-label={t('loading')} className="shrink-0 text-muted motion-safe:animate-spin" />}
      {row.error && <span className="flex min-w-0 items-center gap-1 truncate text-critical"><CircleAlert size={13} aria-hidden className="shrink-0" />{lineOf(row.error)}</span>}
    </li>
  );
}
