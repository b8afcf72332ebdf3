// The files that a chat changed, as its pages list and count them.
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { reviewApi } from '@/lib/api/review';
import type { ChangedFile } from '@/lib/api/types';
import { useChatIds, useChatView } from './context';
import { useEffects } from './effects';
import { isBusy } from './view';

/** Without what other entries already show: new folders of changed files. Plans have a page of their own. */
export function reviewable(files: ChangedFile[]): ChangedFile[] {
  const parents = new Set(files.flatMap(({ path }) => path.split('/').map((_, end, parts) => parts.slice(0, end).join('/'))));
  const isParent = ({ path, after, before }: ChangedFile) => (after.kind === 'folder' || before.kind === 'folder') && parents.has(path);
  return files.filter((file) => !isParent(file) && !file.path.endsWith('.plan'));
}

/** All of them, from as many pages as it takes. `effects` says of which moment. */
export const changedFilesOf = (workspace: string, chat: string, effects: string) => ({
  queryKey: ['changes', chat, 'summary', effects],
  queryFn: async () => {
    const files: ChangedFile[] = [];
    let cursor: string | undefined;
    do {
      const page = await reviewApi.files(workspace, chat, cursor);
      files.push(...page.total.files);
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
    return reviewable(files);
  },
});

/** Number of files to review; counted again at the end of each run, not after each call. */
export function useFileCount(): number {
  const { workspaceId, chatId } = useChatIds();
  const isRunning = useChatView(isBusy);
  const effects = useEffects();
  const [counted, setCounted] = useState(effects);
  if (!isRunning && counted !== effects) setCounted(effects);
  const { data } = useQuery({ ...changedFilesOf(workspaceId, chatId, counted), enabled: counted !== '', select: (files) => files.length, placeholderData: (previous) => previous });
  return data ?? 0;
}
