import type { ChangedFile } from '@/lib/api/types';
import type { Hunk } from '@/lib/unifiedDiff';
import type { Row } from './rows';

/** What the rows of the page can ask for. The same object as long as the page is there. */
export interface Actions {
  mayChange: boolean;
  fold: (file: ChangedFile, isFolded: boolean) => void;
  view: (file: ChangedFile, isViewed: boolean) => void;
  /** `hunk` null: the whole file. */
  takeBack: (file: ChangedFile, hunk: Hunk | null) => void;
}

type LineOrPair = Extract<Row, { kind: 'line' | 'pair' }>;
export const isLine = (row: Row | undefined): row is LineOrPair => row?.kind === 'line' || row?.kind === 'pair';
