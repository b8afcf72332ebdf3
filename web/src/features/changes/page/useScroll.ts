// Which rows are in sight, and scrolling that holds on to what is being read when rows above it grow.
import { useCallback, useLayoutEffect, useMemo, useRef, useState, type RefObject } from 'react';
import { offsetsOf, rowAt, type Row } from './rows';

/** Rows drawn beyond each edge. */
const BEYOND = 10;

interface Anchor {
  key: string;
  /** How far above the row's top the view begins, below it if negative. */
  delta: number;
  path: string;
  /** The same from the head of the file. */
  inFile: number;
}

export interface Scroll {
  offsets: Float64Array;
  first: number;
  last: number;
  top: number;
  height: number;
  /** The row at the upper edge. */
  topRow: number;
  onScroll: () => void;
  /** Whether the view is where the user scrolled it, and not where a key or a link took it. */
  isByHand: () => boolean;
  toTop: (key: string) => void;
  reveal: (key: string, below: number) => void;
  measure: (key: string, height: number) => void;
}

export function useScroll(scrollerRef: RefObject<HTMLElement | null>, rows: Row[]): Scroll {
  const [view, setView] = useState({ top: 0, height: 800 });
  const measured = useRef(new Map<string, number>());
  const [generation, setGeneration] = useState(0);
  const places = useMemo(() => new Map(rows.map((row, place) => [row.key, place])), [rows]);
  const offsets = useMemo(() => {
    void generation;
    return offsetsOf(rows, measured.current);
  }, [rows, generation]);
  const anchor = useRef<Anchor | null>(null);
  /** Where the page itself scrolled to last. */
  const own = useRef(0);
  const current = useRef({ rows, offsets, places });
  current.current = { rows, offsets, places };

  const hold = useCallback((top: number) => {
    const { rows: all, offsets: at, places: index } = current.current;
    const place = rowAt(at, top);
    const row = all[place];
    anchor.current = row ? { key: row.key, delta: top - (at[place] ?? 0), path: row.path, inFile: top - (at[index.get(`${row.path}\0head`) ?? 0] ?? 0) } : null;
  }, []);
  const onScroll = useCallback(() => {
    const node = scrollerRef.current;
    if (!node) return;
    hold(node.scrollTop);
    setView({ top: node.scrollTop, height: node.clientHeight });
  }, [scrollerRef, hold]);

  useLayoutEffect(() => {
    const [node, held] = [scrollerRef.current, anchor.current];
    if (!node || !held) return;
    const place = places.get(held.key);
    const head = places.get(`${held.path}\0head`);
    const wanted = place !== undefined ? (offsets[place] ?? 0) + held.delta : head !== undefined ? (offsets[head] ?? 0) + held.inFile : node.scrollTop;
    if (Math.abs(node.scrollTop - wanted) > 0.5) {
      const isOwn = Math.abs(node.scrollTop - own.current) < 1;
      node.scrollTop = wanted;
      if (isOwn) own.current = node.scrollTop;
    }
    onScroll();
  }, [offsets, places, scrollerRef, onScroll]);
  useLayoutEffect(() => {
    const node = scrollerRef.current;
    if (!node) return undefined;
    const observer = new ResizeObserver(onScroll);
    observer.observe(node);
    return () => observer.disconnect();
  }, [scrollerRef, onScroll]);

  const moveTo = useCallback((top: number) => {
    const node = scrollerRef.current;
    if (!node) return;
    node.scrollTop = top;
    own.current = node.scrollTop;
    onScroll();
  }, [scrollerRef, onScroll]);
  const isByHand = useCallback(() => Math.abs((scrollerRef.current?.scrollTop ?? 0) - own.current) >= 1, [scrollerRef]);
  const toTop = useCallback((key: string) => {
    const place = current.current.places.get(key);
    if (place !== undefined) moveTo(current.current.offsets[place] ?? 0);
  }, [moveTo]);
  const reveal = useCallback((key: string, below: number) => {
    const [node, place] = [scrollerRef.current, current.current.places.get(key)];
    if (!node || place === undefined) return;
    const [start, end] = [current.current.offsets[place] ?? 0, current.current.offsets[place + 1] ?? 0];
    if (start < node.scrollTop + below || end > node.scrollTop + node.clientHeight - 24) moveTo(Math.max(0, start - node.clientHeight / 3));
  }, [scrollerRef, moveTo]);
  const measure = useCallback((key: string, height: number) => {
    if (height === 0 || measured.current.get(key) === height) return;
    measured.current.set(key, height);
    setGeneration((count) => count + 1);
  }, []);

  const topRow = rowAt(offsets, view.top);
  const first = Math.max(0, topRow - BEYOND);
  const last = Math.min(rows.length, rowAt(offsets, view.top + view.height) + 1 + BEYOND);
  return { offsets, first, last, top: view.top, height: view.height, topRow, onScroll, isByHand, toTop, reveal, measure };
}
