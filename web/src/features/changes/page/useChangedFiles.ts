// All files that the chat changed, read again when it may have changed something more.
import { useQuery } from '@tanstack/react-query';
import { changedFilesOf } from '@/lib/chat/changedFiles';
import { useChatIds } from '@/lib/chat/context';
import { useEffects } from '@/lib/chat/effects';

export function useChangedFiles() {
  const { workspaceId, chatId } = useChatIds();
  const query = useQuery({
    ...changedFilesOf(workspaceId, chatId, useEffects()),
    // Until then what was there, but not of another chat.
    placeholderData: (previous, before) => (before?.queryKey[1] === chatId ? previous : undefined),
  });
  return { files: query.data, error: query.error, retry: () => void query.refetch() };
}
