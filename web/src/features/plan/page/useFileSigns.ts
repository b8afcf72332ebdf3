// Which files of a plan are there already: the others would be new.
import { useQueries } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { api, ApiError } from '@/lib/api/client';
import { useChatIds } from '@/lib/chat/context';
import type { Plan } from '../model';
import { type FileSign, folderOf, isGlob, pathKey } from './scope';

/** Files in more folders than this get no sign. */
const MOST_FOLDERS = 40;

/** What the plan would do to each file. `isOpen`: it has not been executed, so that what is there was there before. */
export function useFileSigns(plan: Plan, isOpen: boolean): (path: string) => FileSign {
  const { workspaceId } = useChatIds();
  const folders = useMemo(() => [...new Set(plan.steps.flatMap((step) => step.files).filter((file) => !isGlob(file)).map((file) => folderOf(pathKey(file))))].slice(0, MOST_FOLDERS), [plan]);
  const names = useQueries({
    queries: folders.map((folder) => ({ queryKey: ['names', workspaceId, folder], queryFn: () => namesIn(workspaceId, folder), enabled: isOpen })),
    combine: (answers) => new Map(folders.map((folder, place) => [folder, answers[place]?.data])),
  });
  return useCallback(
    (path: string): FileSign => {
      if (!isOpen || isGlob(path)) return null;
      const key = pathKey(path);
      const found = names.get(folderOf(key));
      return found === undefined ? null : found.has(key) ? 'changed' : 'new';
    },
    [isOpen, names],
  );
}

async function namesIn(workspace: string, folder: string): Promise<Set<string>> {
  try {
    const { children } = await api.files(workspace, folder);
    return new Set((children ?? []).map((child) => child.path));
  } catch (error) {
    // A missing folder is empty.
    if (error instanceof ApiError && error.status >= 400 && error.status < 500) return new Set();
    throw error;
  }
}
