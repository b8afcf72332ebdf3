import type { RefObject } from 'react';
import { showDialog } from '@/lib/dialogs';
import { useLetters } from '@/lib/letters';
import type { Cursor } from './useCursor';
import type { useReview } from './useReview';

interface Given {
  review: ReturnType<typeof useReview>;
  cursor: Cursor;
  field: RefObject<HTMLInputElement | null>;
  /** Null where there is no room for two columns. */
  setSplit: ((isSplit: boolean) => void) | null;
}

/** The keys of the page: single letters, outside of fields. */
export function useReviewKeys({ review, cursor, field, setSplit }: Given): void {
  const { steps, filter, setFilter, byPath, has, actions } = review;
  const file = cursor.current === null ? undefined : byPath.get(cursor.current);
  const byStep = (by: number) => {
    const all = [null, ...steps];
    setFilter({ step: all[(all.indexOf(filter.step) + by + all.length) % all.length] ?? null });
  };
  const view = () => {
    if (!file || !actions.mayChange) return;
    const isViewed = has(file);
    actions.view(file, !isViewed);
    // On to the next file, unless the mark was taken away.
    if (!isViewed) cursor.byFile(1);
  };
  useLetters({
    j: () => cursor.byFile(1),
    k: () => cursor.byFile(-1),
    n: () => cursor.byHunk(1),
    p: () => cursor.byHunk(-1),
    c: () => actions.mayChange && cursor.comment(),
    v: view,
    z: ({ shiftKey }) => {
      if (!file || !actions.mayChange || file.irreversible) return;
      if (shiftKey) actions.takeBack(file, null);
      else if (cursor.hunk) actions.takeBack(file, cursor.hunk.hunk);
    },
    '[': () => byStep(-1),
    ']': () => byStep(1),
    u: () => setSplit?.(!review.isSplit),
    '/': () => field.current?.focus(),
    '?': () => showDialog({ kind: 'shortcuts' }),
  });
}
