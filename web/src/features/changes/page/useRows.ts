import { useEffect, useMemo, useRef, useState, type RefObject } from 'react';
import type { ChangedFile } from '@/lib/api/types';
import { useMedia } from '@/lib/layout';
import type { Comments, Draft } from './comments';
import { rowsOf, type FileState, type Row, type Sizes } from './rows';
import type { Diffs } from './useDiffs';

/** Left of the code, and right of it, in pixels. */
const BESIDE = { wide: 112, narrow: 72 };
/** Until it is measured. */
const USUAL_COLUMNS = 120;
const NONE: Draft[] = [];

/** How tall rows are, and how many characters fit into a line. */
function useSizes(scroller: RefObject<HTMLElement | null>): Sizes {
  const isCoarse = useMedia('(pointer: coarse)');
  const isNarrow = useMedia('(max-width: 639px)');
  const [columns, setColumns] = useState(USUAL_COLUMNS);
  useEffect(() => {
    const node = scroller.current;
    if (!node) return undefined;
    const probe = document.createElement('span');
    probe.className = 'diff-line absolute';
    probe.textContent = '0'.repeat(100);
    node.append(probe);
    const one = probe.getBoundingClientRect().width / 100 || 7.3;
    probe.remove();
    const measure = () => node.clientWidth > 0 && setColumns(Math.max(10, Math.floor((node.clientWidth - (isNarrow ? BESIDE.narrow : BESIDE.wide)) / one)));
    const observer = new ResizeObserver(measure);
    observer.observe(node);
    measure();
    return () => observer.disconnect();
  }, [scroller, isNarrow]);
  return useMemo(() => ({ head: isCoarse ? 48 : 34, hunk: isCoarse ? 40 : 26, line: 20, columns }), [isCoarse, columns]);
}

const isSame = (one: FileState, other: FileState) =>
  one.file === other.file && one.loaded === other.loaded && one.isFolded === other.isFolded && one.isSplit === other.isSplit && one.sizes === other.sizes && one.drafts.length === other.drafts.length && one.drafts.every((draft, place) => draft === other.drafts[place]);

interface Given {
  order: ChangedFile[];
  diffs: Diffs;
  comments: Comments;
  isFolded: (file: ChangedFile) => boolean;
  isSplit: boolean;
}

/** The rows of all files. Those of a file are made anew only when something about it changed. */
export function useRows(scroller: RefObject<HTMLElement | null>, { order, diffs, comments, isFolded, isSplit }: Given): { rows: Row[]; sizes: Sizes } {
  const sizes = useSizes(scroller);
  const made = useRef(new Map<string, { state: FileState; rows: Row[] }>());
  const rows = useMemo(() => {
    const byPath = Map.groupBy(comments.all, ({ path }) => path);
    return order.flatMap((file) => {
      const state: FileState = { file, loaded: diffs.of(file.path), isFolded: isFolded(file), isSplit, drafts: byPath.get(file.path) ?? NONE, sizes };
      const known = made.current.get(file.path);
      if (known && isSame(known.state, state)) return known.rows;
      const fresh = rowsOf(state);
      made.current.set(file.path, { state, rows: fresh });
      return fresh;
    });
  }, [order, diffs, comments.all, isFolded, isSplit, sizes]);
  return { rows, sizes };
}
