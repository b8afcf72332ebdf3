// The diffs of the files that came into sight, each loaded once for each content.
import { useCallback, useMemo, useReducer, useRef } from 'react';
import { reviewApi } from '@/lib/api/review';
import type { ChangedFile } from '@/lib/api/types';
import { useChatIds } from '@/lib/chat/context';
import { uncut } from '../model';
import { parseHunks } from '@/lib/unifiedDiff';
import type { Loaded } from './rows';

/** Lines around a change: at first, and after each click for more. */
const CONTEXT = [3, 25, 100_000];

interface Entry {
  /** Which content of the file, and how much around its changes. */
  stamp: string;
  loaded: Loaded;
}

export interface Diffs {
  of: (path: string) => Loaded | undefined;
  /** Loads it, unless it is there. */
  want: (file: ChangedFile) => void;
  /** Whether there may be more lines around the changes. */
  hasMore: (path: string) => boolean;
  more: (file: ChangedFile) => void;
  again: (file: ChangedFile) => void;
}

export function useDiffs(): Diffs {
  const { workspaceId, chatId } = useChatIds();
  const entries = useRef(new Map<string, Entry>());
  const contexts = useRef(new Map<string, number>());
  const [version, changed] = useReducer((count: number) => count + 1, 0);
  const load = useCallback(
    async (file: ChangedFile, isForced: boolean) => {
      const context = CONTEXT[contexts.current.get(file.path) ?? 0] ?? 3;
      const stamp = `${JSON.stringify(file.after)} ${file.messages?.at(-1) ?? ''} ${context}`;
      const known = entries.current.get(file.path);
      if (known?.stamp === stamp && !isForced) return;
      const put = (loaded: Loaded) => {
        const isNewest = entries.current.get(file.path)?.stamp === stamp;
        if (!isNewest) return;
        entries.current.set(file.path, { stamp, loaded });
        changed();
      };
      // The old diff stays until the new one arrives.
      entries.current.set(file.path, { stamp, loaded: known?.loaded ?? { state: 'loading' } });
      try {
        const answer = await reviewApi.file(workspaceId, chatId, file.path, context);
        const hunks = parseHunks(uncut(answer.diff)).map((hunk, place) => ({ ...hunk, numbers: answer.hunks[place]?.numbers ?? [] }));
        put({ state: 'loaded', hunks, isCut: answer.truncated, sha256: answer.after_sha256 ?? null, shownAs: answer });
      } catch (reason) {
        put({ state: 'failed', error: reason instanceof Error ? reason : new Error(String(reason)) });
      }
    },
    [workspaceId, chatId],
  );
  return useMemo(
    () => ({
      version,
      of: (path: string) => entries.current.get(path)?.loaded,
      want: (file: ChangedFile) => void load(file, false),
      hasMore: (path: string) => (contexts.current.get(path) ?? 0) < CONTEXT.length - 1,
      more: (file: ChangedFile) => {
        contexts.current.set(file.path, Math.min(CONTEXT.length - 1, (contexts.current.get(file.path) ?? 0) + 1));
        void load(file, false);
      },
      again: (file: ChangedFile) => void load(file, true),
    }),
    [load, version],
  );
}
