import { useQuery } from '@tanstack/react-query';
import { api } from '@/lib/api/client';
import { useChatIds } from '@/lib/chat/context';
import { useEffects } from '@/lib/chat/effects';

/** What the chat changed, read again when it may have changed something more. */
export function useChanges() {
  const { workspaceId, chatId } = useChatIds();
  const effects = useEffects();
  return useQuery({
    queryKey: ['changes', chatId, effects],
    queryFn: () => api.changes(workspaceId, chatId),
    // Until then what was there, but not of another chat.
    placeholderData: (previous, query) => (query?.queryKey[1] === chatId ? previous : undefined),
  });
}
