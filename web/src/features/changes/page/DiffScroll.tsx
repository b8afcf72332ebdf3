import { useEffect, type KeyboardEvent, type RefObject } from 'react';
import { useText } from '@/i18n';
import type { ChangedFile } from '@/lib/api/types';
import type { Actions } from './actions';
import type { Comments } from './comments';
import { DiffRow, Head } from './DiffRow';
import { rowAt, type Row, type Sizes } from './rows';
import { useColours } from './useColours';
import type { Cursor } from './useCursor';
import type { Diffs } from './useDiffs';
import { usePointing } from './usePointing';
import type { Scroll } from './useScroll';

export interface DiffProps {
  scroller: RefObject<HTMLDivElement | null>;
  files: ReadonlyMap<string, ChangedFile>;
  rows: Row[];
  sizes: Sizes;
  scroll: Scroll;
  cursor: Cursor;
  diffs: Diffs;
  comments: Comments;
  has: (file: ChangedFile) => boolean;
  isFolded: (file: ChangedFile) => boolean;
  actions: Actions;
}

/** The diffs of all files in one scroll; only the rows in sight are drawn. The head of the file that is being read stays on top. */
export function DiffScroll(props: DiffProps) {
  const { scroller, files, rows, sizes, scroll, cursor, diffs } = props;
  const t = useText('changesPage');
  const shown = rows.slice(scroll.first, scroll.last);
  useWanted(props, shown);
  const paths = [...new Set(shown.map(({ path }) => path))];
  const hunksOf = (path: string) => {
    const loaded = diffs.of(path);
    return loaded?.state === 'loaded' ? loaded.hunks : undefined;
  };
  const coloursOf = useColours(paths.flatMap((path) => { const hunks = hunksOf(path); return hunks ? [{ path, hunks }] : []; }));
  const top = rows[scroll.topRow];
  const topFile = top && files.get(top.path);
  const next = rows.findIndex((row, place) => place > scroll.topRow && row.kind === 'head');
  const push = next < 0 ? 0 : Math.min(0, (scroll.offsets[next] ?? 0) - scroll.top - sizes.head);
  const onScroll = () => {
    scroll.onScroll();
    const read = rows[rowAt(scroll.offsets, (scroller.current?.scrollTop ?? 0) + sizes.head)];
    if (read && scroll.isByHand()) cursor.follow(read.path);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== scroller.current || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
    event.preventDefault();
    cursor.byLine(event.key === 'ArrowDown' ? 1 : -1, event.shiftKey);
  };
  return (
    <div ref={scroller} tabIndex={0} role="region" aria-label={t('diffs')} onScroll={onScroll} onKeyDown={onKeyDown} {...usePointing(cursor)} className="diffs">
      <div className="diffs-top"><div style={{ transform: `translateY(${push}px)` }}>{topFile && <Head file={topFile} {...props} />}</div></div>
      {/* Room below, so that the last file can be on top as well. */}
      <div className="relative" style={{ height: (scroll.offsets[rows.length] ?? 0) + Math.max(0, scroll.height - sizes.head) }}>
        <div className="absolute inset-x-0 top-0" style={{ transform: `translateY(${scroll.offsets[scroll.first] ?? 0}px)` }}>
          {shown.map((row) => (row.kind === 'head' && row.path === top?.path ? <div key={row.key} style={{ height: sizes.head }} /> : <DiffRow key={row.key} row={row} colours={coloursOf(hunksOf(row.path))} {...props} />))}
        </div>
      </div>
    </div>
  );
}

/** Loads the diffs in sight, and the one after them. */
function useWanted({ files, rows, scroll, diffs, isFolded }: DiffProps, shown: Row[]): void {
  const next = rows.slice(scroll.last, scroll.last + 3).find((row) => row.kind === 'head');
  useEffect(() => {
    for (const path of new Set([...shown, ...(next ? [next] : [])].map((row) => row.path))) {
      const file = files.get(path);
      if (file && !isFolded(file)) diffs.want(file);
    }
  });
}
