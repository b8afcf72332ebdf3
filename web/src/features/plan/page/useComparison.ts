import { useState } from 'react';
import type { Revision } from '../model';

export interface Comparison {
  /** The version that the shown one is compared with: the one before it, unless the user picked another. */
  against: Revision;
  others: Revision[];
  older: Revision;
  newer: Revision;
  isShown: boolean;
  toggle: () => void;
  choose: (messageId: string) => void;
}

/** Compares the shown version with any other one; null while there is only one. */
export function useComparison(revisions: Revision[], shown: Revision): Comparison | null {
  const [isShown, setShown] = useState(false);
  const [chosen, setChosen] = useState<string | null>(null);
  const place = revisions.indexOf(shown);
  const others = revisions.filter((one) => one !== shown);
  const against = others.find(({ messageId }) => messageId === chosen) ?? revisions[place - 1] ?? revisions[place + 1];
  if (!against) return null;
  const [older, newer] = revisions.indexOf(against) < place ? [against, shown] : [shown, against];
  return { against, others, older, newer, isShown, toggle: () => setShown(!isShown), choose: setChosen };
}
