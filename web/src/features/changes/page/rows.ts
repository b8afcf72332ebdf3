// The diffs of all files as one list of rows, each with its height, so that only those in sight are drawn. Pure.
import type { ChangedFile } from '@/lib/api/types';
import { unshown } from '../model';
import type { Draft } from './comments';
import { LONGEST_LINE, lineOf, paired, type Change, type Hunk, type Line } from '@/lib/unifiedDiff';

export type Loaded = { state: 'loading' } | { state: 'failed'; error: Error } | { state: 'loaded'; hunks: Hunk[]; isCut: boolean; sha256: string | null; shownAs: Parameters<typeof unshown>[0] };

interface Common {
  key: string;
  path: string;
  height: number;
  /** Whether its real height is known only when it is drawn. */
  isMeasured?: boolean;
}

export type Row = Common &
  (
    | { kind: 'head'; file: ChangedFile; isFolded: boolean }
    | { kind: 'hunk'; hunk: Hunk; number: number }
    | { kind: 'line'; change: Change; line: Line; number: number }
    | { kind: 'pair'; left: Change | null; right: Change | null; line: Line; number: number }
    | { kind: 'comment'; draft: Draft }
    | { kind: 'note'; note: 'loading' | 'cut' | NonNullable<ReturnType<typeof unshown>> }
    | { kind: 'failed'; error: Error }
  );

export interface Sizes {
  head: number;
  hunk: number;
  line: number;
  /** How many characters fit into a line of code. */
  columns: number;
}

const COMMENT = 96;
const NOTE = 36;

const PLAIN = /^[\x20-\x7e]*$/;

/** How many columns a text takes; wide characters and tabs are estimated. */
function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const mark of text) width += mark === '\t' ? 4 : (mark.codePointAt(0) ?? 0) > 0x2e7f ? 2 : 1;
  return width;
}

function lineHeight(texts: string[], sizes: Sizes): Pick<Common, 'height' | 'isMeasured'> {
  const widest = Math.max(...texts.map((text) => Math.min(widthOf(text), LONGEST_LINE)));
  const isPlain = texts.every((text) => PLAIN.test(text));
  if (widest <= sizes.columns && (isPlain || widest < sizes.columns * 0.8)) return { height: sizes.line };
  return { height: Math.max(1, Math.ceil(widest / sizes.columns)) * sizes.line, isMeasured: true };
}

/** How tall a file may become whose diff is not loaded yet. */
const guess = ({ added, removed }: ChangedFile, sizes: Sizes) => Math.min(400, Math.max(3, added + removed + 6)) * sizes.line;

export interface FileState {
  file: ChangedFile;
  loaded: Loaded | undefined;
  isFolded: boolean;
  isSplit: boolean;
  drafts: Draft[];
  sizes: Sizes;
}

const anchorOf = ({ side, number }: Pick<Line, 'side' | 'number'>) => `${side}${number}`;

export function rowsOf({ file, loaded, isFolded, isSplit, drafts, sizes }: FileState): Row[] {
  const { path } = file;
  const rows: Row[] = [{ kind: 'head', key: `${path}\0head`, path, height: sizes.head, file, isFolded }];
  if (isFolded) return rows;
  if (!loaded || loaded.state === 'loading') return [...rows, { kind: 'note', key: `${path}\0loading`, path, height: guess(file, sizes), note: 'loading' }];
  if (loaded.state === 'failed') return [...rows, { kind: 'failed', key: `${path}\0failed`, path, height: 90, isMeasured: true, error: loaded.error }];
  const reason = loaded.hunks.length > 0 ? null : unshown(loaded.shownAs);
  if (reason) return [...rows, { kind: 'note', key: `${path}\0note`, path, height: NOTE, note: reason }];
  const waiting = new Map<string, Draft[]>();
  for (const draft of drafts) waiting.set(anchorOf({ side: draft.side, number: draft.to }), [...(waiting.get(anchorOf({ side: draft.side, number: draft.to })) ?? []), draft]);
  const comment = (draft: Draft): Row => ({ kind: 'comment', key: `${path}\0comment${draft.id}`, path, height: COMMENT, isMeasured: true, draft });
  const place = (lines: Line[]) => {
    for (const anchor of new Set(lines.map(anchorOf))) {
      rows.push(...(waiting.get(anchor) ?? []).map(comment));
      waiting.delete(anchor);
    }
  };
  loaded.hunks.forEach((hunk, number) => {
    rows.push({ kind: 'hunk', key: `${path}\0hunk${number}`, path, height: sizes.hunk, hunk, number });
    if (isSplit) {
      for (const [left, right] of paired(hunk.changes)) {
        const lines = [left, right].flatMap((change) => (change ? lineOf(change) : []));
        const line = lines.at(-1);
        if (!line) continue;
        const half = { ...sizes, columns: Math.floor(sizes.columns / 2) - 4 };
        rows.push({ kind: 'pair', key: `${path}\0${anchorOf(line)}`, path, ...lineHeight(lines.map(({ text }) => text), half), left, right, line, number });
        place(lines);
      }
    } else {
      for (const change of hunk.changes) {
        const line = lineOf(change);
        rows.push({ kind: 'line', key: `${path}\0${anchorOf(line)}`, path, ...lineHeight([line.text], sizes), change, line, number });
        place([line]);
      }
    }
  });
  // Lines that the diff no longer shows keep their comments, at the end of the file.
  for (const left of waiting.values()) rows.push(...left.map(comment));
  if (loaded.isCut) rows.push({ kind: 'note', key: `${path}\0cut`, path, height: NOTE, note: 'cut' });
  return rows;
}

/** Where each row begins; one more entry for the end. */
export function offsetsOf(rows: Row[], measured: ReadonlyMap<string, number>): Float64Array {
  const offsets = new Float64Array(rows.length + 1);
  rows.forEach((row, place) => {
    offsets[place + 1] = (offsets[place] ?? 0) + ((row.isMeasured && measured.get(row.key)) || row.height);
  });
  return offsets;
}

/** The last row that begins at or before a place. */
export function rowAt(offsets: Float64Array, top: number): number {
  let [low, high] = [0, Math.max(0, offsets.length - 2)];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((offsets[middle] ?? 0) <= top) low = middle;
    else high = middle - 1;
  }
  return low;
}
