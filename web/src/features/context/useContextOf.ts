import { useQuery } from '@tanstack/react-query';
import { api } from '@/lib/api/client';
import type { Context } from '@/lib/api/types';
import { useChatIds, useChatView } from '@/lib/chat/context';

/** How much room the model of the chat's mode has. Asked once, because it makes the server read the whole history. */
export function useRoom(): number | null {
  const { workspaceId, chatId } = useChatIds();
  const mode = useChatView((view) => view.chat.config.agent_mode);
  const context = useQuery({ queryKey: ['room', chatId, mode], queryFn: () => api.context(workspaceId, chatId), staleTime: Infinity, select: (found: Context) => found.limit });
  return context.data ?? null;
}

/** What is in the context, read again after each message. */
export function useContextOf() {
  const { workspaceId, chatId } = useChatIds();
  const role = useChatView((view) => view.chat.config.agent_role);
  const newest = useChatView((view) => view.messages.at(-1)?.id);
  return useQuery({
    queryKey: ['context', chatId, role, newest],
    queryFn: () => api.context(workspaceId, chatId),
    placeholderData: (previous, query) => (query?.queryKey[1] === chatId ? previous : undefined),
  });
}
