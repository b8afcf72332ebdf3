// Where the reader is: the file, the line, and a range of lines that is being marked.
import { useCallback, useEffect, useMemo, useState } from 'react';
import type { ChangedFile } from '@/lib/api/types';
import type { Hunk } from '@/lib/unifiedDiff';
import { isLine } from './actions';
import type { Comments } from './comments';
import type { Row, Sizes } from './rows';
import type { Scroll } from './useScroll';

interface Given {
  order: ChangedFile[];
  rows: Row[];
  sizes: Sizes;
  scroll: Scroll;
  comments: Comments;
  /** Says where the reader went. */
  tell: (file: ChangedFile) => void;
}

export interface Cursor {
  current: string | null;
  line: string | null;
  /** The keys of the lines that are marked. */
  range: ReadonlySet<string>;
  toFile: (path: string) => void;
  byFile: (by: number) => void;
  byHunk: (by: number) => void;
  byLine: (by: number, isRange: boolean) => void;
  /** Puts the cursor on a line, or draws the range out to it. */
  put: (key: string, isRange: boolean) => void;
  /** On the line of the cursor, or the lines that are marked. */
  comment: () => void;
  commentOn: (key: string) => void;
  /** Follows what is scrolled by hand. */
  follow: (path: string) => void;
  hunk: { path: string; number: number; hunk: Hunk } | null;
}

const NO_RANGE: ReadonlySet<string> = new Set();
const isChanged = (row: Row) => (row.kind === 'line' ? row.change.type !== 'normal' : row.kind === 'pair' && row.left !== row.right);

export function useCursor({ order, rows, sizes, scroll, comments, tell }: Given): Cursor {
  const [current, setCurrent] = useState<string | null>(null);
  const [line, setLine] = useState<string | null>(null);
  const [start, setStart] = useState<string | null>(null);
  /** A file whose first hunk is to be gone to once it is loaded. */
  const [awaited, setAwaited] = useState<string | null>(null);
  const places = useMemo(() => new Map(rows.map((row, place) => [row.key, place])), [rows]);
  const at = line === null ? undefined : places.get(line);
  const row = at === undefined ? undefined : rows[at];
  const { toTop, reveal } = scroll;

  const toFile = useCallback((path: string) => {
    setCurrent(path);
    setLine(null);
    setStart(null);
    setAwaited(null);
    toTop(`${path}\0head`);
  }, [toTop]);
  const byFile = (by: number) => {
    const here = order.findIndex(({ path }) => path === current);
    const next = order[here < 0 ? 0 : Math.min(order.length - 1, Math.max(0, here + by))];
    if (!next) return;
    toFile(next.path);
    tell(next);
  };
  const put = useCallback((key: string, isRange: boolean) => {
    setStart((from) => (isRange ? (from ?? line ?? key) : null));
    setLine(key);
    setCurrent(key.split('\0')[0] ?? null);
    reveal(key, sizes.head);
  }, [line, reveal, sizes.head]);
  const intoHunk = useCallback((place: number) => {
    const inside = rows.slice(place + 1, place + 400);
    const end = inside.findIndex((one) => one.kind === 'hunk' || one.kind === 'head');
    const own = end < 0 ? inside : inside.slice(0, end);
    const first = own.find(isChanged) ?? own.find(isLine);
    if (first) put(first.key, false);
  }, [rows, put]);
  const byHunk = (by: number) => {
    const head = current === null ? 0 : (places.get(`${current}\0head`) ?? 0);
    let here = at ?? head;
    // Backwards from a line, the first hunk found is the one that the line is in.
    if (by < 0 && at !== undefined) while (here > 0 && rows[here]?.kind !== 'hunk') here -= 1;
    for (let place = here + by; place >= 0 && place < rows.length; place += by) {
      const found = rows[place];
      if (found?.kind === 'hunk') return intoHunk(place);
      if (found?.kind === 'note' && found.note === 'loading') {
        toFile(found.path);
        return setAwaited(found.path);
      }
    }
    return undefined;
  };
  useEffect(() => {
    if (awaited === null) return;
    const place = rows.findIndex((one) => one.path === awaited && one.kind === 'hunk');
    if (place < 0) return;
    setAwaited(null);
    intoHunk(place);
  }, [awaited, rows, intoHunk]);
  const byLine = (by: number, isRange: boolean) => {
    const from = at ?? scroll.topRow;
    for (let place = from + by; place >= 0 && place < rows.length; place += by) {
      const found = rows[place];
      if (!isLine(found)) continue;
      // A range stays within its file.
      if (isRange && row && found.path !== row.path) return;
      return put(found.key, isRange);
    }
  };
  const range = useMemo(() => {
    const [one, other] = [start === null ? undefined : places.get(start), line === null ? undefined : places.get(line)];
    if (one === undefined || other === undefined || one === other) return NO_RANGE;
    return new Set(rows.slice(Math.min(one, other), Math.max(one, other) + 1).filter(isLine).map(({ key }) => key));
  }, [start, line, places, rows]);

  const commentOn = (key: string, marks = NO_RANGE) => {
    const chosen = rows[places.get(key) ?? -1];
    if (!isLine(chosen)) return;
    const { side } = chosen.line;
    const marked = marks.size > 0 ? rows.filter((one) => isLine(one) && marks.has(one.key)) : [chosen];
    const lines = marked.flatMap((one) => (isLine(one) && one.line.side === side ? [one.line] : []));
    const numbers = lines.map(({ number }) => number);
    const file = order.find(({ path }) => path === chosen.path);
    comments.begin({ path: chosen.path, side, from: Math.min(...numbers), to: Math.max(...numbers), quote: lines.map(({ text }) => text).join('\n'), step: file?.step ?? null });
    setStart(null);
    setLine(chosen.key);
    reveal(chosen.key, sizes.head);
  };
  const comment = () => {
    const key = line ?? rows.find((one) => one.path === current && isChanged(one))?.key;
    if (key !== undefined) commentOn(key, range);
  };
  const begin = isLine(row) ? rows[places.get(`${row.path}\0hunk${row.number}`) ?? -1] : undefined;
  const hunk = begin?.kind === 'hunk' ? { path: begin.path, number: begin.number, hunk: begin.hunk } : null;
  return { current, line, range, toFile, byFile, byHunk, byLine, put, comment, commentOn: (key) => commentOn(key), follow: setCurrent, hunk };
}
