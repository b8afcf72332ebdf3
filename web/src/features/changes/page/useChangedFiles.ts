// All files that the chat changed, read again when it may have changed something more.
import { useQuery } from '@tanstack/react-query';
import { reviewApi } from '@/lib/api/review';
import type { ChangedFile } from '@/lib/api/types';
import { useChatIds } from '@/lib/chat/context';
import { useEffects } from '@/lib/chat/effects';
import { withoutParents } from './model';

export function useChangedFiles() {
  const { workspaceId, chatId } = useChatIds();
  const effects = useEffects();
  const query = useQuery({
    queryKey: ['changes', chatId, 'summary', effects],
    queryFn: async () => {
      const files: ChangedFile[] = [];
      let cursor: string | undefined;
      do {
        const page = await reviewApi.files(workspaceId, chatId, cursor);
        files.push(...page.total.files);
        cursor = page.next_cursor ?? undefined;
      } while (cursor !== undefined);
      return withoutParents(files);
    },
    // Until then what was there, but not of another chat.
    placeholderData: (previous, before) => (before?.queryKey[1] === chatId ? previous : undefined),
  });
  return { files: query.data, error: query.error, retry: () => void query.refetch() };
}
