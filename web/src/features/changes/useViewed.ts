// Which changed files the user has looked at, each in the content it has now.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { inboxApi, type ViewedFile } from '@/lib/api/inbox';
import type { ChangedFile } from '@/lib/api/types';
import { useChatIds } from '@/lib/chat/context';
import { refreshInbox } from '@/lib/inbox';
import { toastError } from '@/lib/toast';

const contentOf = ({ after }: ChangedFile): string | null => (after.kind === 'file' ? after.sha256 : null);
const markOf = (path: string, content: string | null | undefined) => `${path}\0${content ?? ''}`;

/** Whether a mark can be put on it: folders and links have no content to look at. */
export const canBeViewed = ({ after }: ChangedFile): boolean => after.kind === 'file' || after.kind === 'absent';

export function useViewed() {
  const { workspaceId, chatId } = useChatIds();
  const queries = useQueryClient();
  const viewed = useQuery({ queryKey: ['viewed', chatId], queryFn: () => inboxApi.viewed(workspaceId, chatId) });
  const marks = useMemo(() => new Set(viewed.data?.map((one) => markOf(one.path, one.after_sha256))), [viewed.data]);
  const has = useCallback((file: ChangedFile) => marks.has(markOf(file.path, contentOf(file))), [marks]);
  const mark = useCallback(
    async (file: ChangedFile, isViewed: boolean) => {
      const key = ['viewed', chatId];
      const withMark = (all: ViewedFile[] = []) => {
        const others = all.filter((one) => one.path !== file.path);
        return isViewed ? [...others, { path: file.path, after_sha256: contentOf(file) }] : others;
      };
      queries.setQueryData<ViewedFile[]>(key, withMark);
      try {
        await inboxApi.view(workspaceId, chatId, file.path, contentOf(file), isViewed);
        // The inbox counts the old place of a moved file as well.
        if (file.from) await inboxApi.view(workspaceId, chatId, file.from, null, isViewed);
      } catch (reason) {
        toastError(reason);
        // Only now: an answer on its way would take back the marks set since it was asked for.
        await queries.invalidateQueries({ queryKey: key });
      }
      await refreshInbox(queries);
    },
    [workspaceId, chatId, queries],
  );
  return { has, mark, isKnown: viewed.data !== undefined };
}
