import { useCallback, useEffect, useMemo, useRef, type ReactNode } from 'react';
import { useSearchParams } from 'wouter';
import { PaneHandle } from '@/components/PaneHandle';
import { useText } from '@/i18n';
import { announce } from '@/lib/announce';
import type { ChangedFile } from '@/lib/api/types';
import { shownName } from '@/lib/marks';
import { useWidth } from '@/lib/panes';
import { DiffScroll } from './DiffScroll';
import { FileFilter } from './FileFilter';
import { FileTree } from './FileTree';
import { KeyHints } from './KeyHints';
import { PhoneBar } from './PhoneBar';
import { useCursor, type Cursor } from './useCursor';
import type { useReview } from './useReview';
import { useReviewKeys } from './useReviewKeys';
import { useRows } from './useRows';
import { useScroll } from './useScroll';

interface Shown {
  review: ReturnType<typeof useReview>;
  isSplit: boolean;
  setSplit: ((isSplit: boolean) => void) | null;
  isNarrow: boolean;
  bar: ReactNode;
}

/** The tree and the diffs beside each other; on a phone the list, then one file at a time. */
export function FilesAndDiffs({ review, isSplit, setSplit, isNarrow, bar }: Shown) {
  const t = useText('changesPage');
  const changes = useText('changes');
  const { tree, byPath, comments, diffs, isFolded, has, actions } = review;
  const [params, setParams] = useSearchParams();
  const named = params.get('file');
  const opened = isNarrow && named !== null ? byPath.get(named) : undefined;
  const scroller = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const width = useWidth('tree');
  const order = useMemo(() => (opened ? [opened] : tree.order), [opened, tree.order]);
  // Whoever opens a file on a phone wants to see it.
  const isShut = useCallback((file: ChangedFile) => opened === undefined && isFolded(file), [opened, isFolded]);
  const { rows, sizes } = useRows(scroller, { order, diffs, comments, isFolded: isShut, isSplit });
  const scroll = useScroll(scroller, rows);
  const tell = (file: ChangedFile) => announce(t('atFile', { path: shownName(file.path), place: tree.order.indexOf(file) + 1, count: tree.order.length, lines: changes('lines', { added: file.added, removed: file.removed }) }));
  const cursor = useCursor({ order: tree.order, rows, sizes, scroll, comments, tell });
  useReviewKeys({ review, cursor, field, setSplit });
  const show = (path: string | null) => setParams((old) => {
    const next = new URLSearchParams(old);
    if (path === null) next.delete('file');
    else next.set('file', path);
    return next;
  });
  usePlace(named, cursor, tree.order);
  const list = <FileTree nodes={tree.nodes} closed={review.closed} setClosed={review.setClosed} current={cursor.current} open={isNarrow ? show : cursor.toFile} has={has} view={actions.mayChange ? actions.view : null} comments={comments} />;
  const filter = <FileFilter field={field} filter={review.filter} change={review.setFilter} steps={review.steps} causes={review.causes} />;
  const diff = <DiffScroll {...{ scroller, files: byPath, rows, sizes, scroll, cursor, diffs, comments, has, isFolded: isShut, actions }} />;
  const none = tree.order.length === 0 && <p className="p-4 text-fg2">{t('noneMatch')}</p>;
  if (isNarrow) return opened ? <><PhoneBar order={tree.order} file={opened} show={show} />{diff}</> : <>{bar}{filter}{none || list}</>;
  return (
    <>
      {bar}
      <div className="review-body">
        <div style={{ width }} className="review-side">{filter}{none || list}<PaneHandle pane="tree" side="right" /></div>
        {diff}
      </div>
      <KeyHints />
    </>
  );
}

/** Begins at the file that the address names, else at the first; and there again when what was read is filtered away. */
function usePlace(named: string | null, { current, toFile, follow }: Cursor, order: ChangedFile[]): void {
  useEffect(() => {
    if (named !== null) toFile(named);
  }, [named, toFile]);
  const first = order[0]?.path;
  // The file in the address comes first.
  const place = current ?? named;
  const isListed = place !== null && order.some(({ path }) => path === place);
  useEffect(() => {
    if (!isListed && first !== undefined) follow(first);
  }, [isListed, first, follow]);
}
