import { useEffect, useReducer, useRef } from 'react';
import type { Hunk } from '@/lib/unifiedDiff';

/** A piece of a line with its colours, as the highlighter gives it. */
export interface Token {
  type: string;
  value?: string;
  properties?: { className?: unknown };
  children?: Token[];
}

export interface Coloured {
  old: Token[][];
  new: Token[][];
}

interface InSight {
  path: string;
  hunks: Hunk[];
}

/** Beyond this many characters, colour costs more than it helps. */
const MOST_COLOURED = 60_000;
const sizeOf = (hunks: Hunk[]) => hunks.reduce((sum, hunk) => hunk.changes.reduce((all, { content }) => all + content.length, sum), 0);

/** The colours of files in sight, one after the other while nothing else is to be done. */
export function useColours(inSight: InSight[]): (hunks: Hunk[] | undefined) => Coloured | null {
  const done = useRef(new WeakMap<Hunk[], Coloured | null>());
  const [, changed] = useReducer((count: number) => count + 1, 0);
  const next = inSight.find(({ hunks }) => !done.current.has(hunks));
  const [path, hunks] = [next?.path, next?.hunks];
  useEffect(() => {
    if (path === undefined || hunks === undefined) return undefined;
    let isOver = false;
    const put = (coloured: Coloured | null) => {
      done.current.set(hunks, coloured);
      if (!isOver) changed();
    };
    const clock = setTimeout(() => {
      if (sizeOf(hunks) > MOST_COLOURED) put(null);
      else void import('./colour').then((all) => all.coloured(path, hunks)).then(put, () => put(null));
    }, 30);
    return () => {
      isOver = true;
      clearTimeout(clock);
    };
  }, [path, hunks]);
  return (wanted) => (wanted && done.current.get(wanted)) ?? null;
}
