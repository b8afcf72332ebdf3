// Which changed files the user has looked at, each in the content it has now.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { inboxApi, type ViewedFile } from '@/lib/api/inbox';
import type { ChangedFile } from '@/lib/api/types';
import { useChatIds } from '@/lib/chat/context';
import { refreshInbox } from '@/lib/inbox';
import { toastError } from '@/lib/toast';

const contentOf = ({ after }: ChangedFile): string | null => (after.kind === 'file' ? after.sha256 : null);

export function useViewed() {
  const { workspaceId, chatId } = useChatIds();
  const queries = useQueryClient();
  const key = ['viewed', chatId];
  const viewed = useQuery({ queryKey: key, queryFn: () => inboxApi.viewed(workspaceId, chatId) });
  const has = (file: ChangedFile) => viewed.data?.some((one) => one.path === file.path && one.after_sha256 === contentOf(file)) ?? false;
  const mark = async (file: ChangedFile, isViewed: boolean) => {
    const withMark = (marks: ViewedFile[] = []) => {
      const others = marks.filter((one) => one.path !== file.path);
      return isViewed ? [...others, { path: file.path, after_sha256: contentOf(file) }] : others;
    };
    queries.setQueryData<ViewedFile[]>(key, withMark);
    try {
      await inboxApi.view(workspaceId, chatId, file.path, contentOf(file), isViewed);
    } catch (reason) {
      toastError(reason);
      // Only now: an answer on its way would take back the marks set since it was asked for.
      await queries.invalidateQueries({ queryKey: key });
    }
    await refreshInbox(queries);
  };
  return { has, mark, isKnown: viewed.data !== undefined };
}
