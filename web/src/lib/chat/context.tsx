// The chat that a part of the page belongs to.
import { createContext, useContext, useMemo, type ReactNode } from 'react';
import { api, type Answers } from '@/lib/api/client';
import { followEnd } from './follow';
import { useChatStore } from './store';
import type { ChatView } from './view';

interface ChatIds {
  workspaceId: string;
  chatId: string;
}

/** Null outside of a chat. */
export const ChatContext = createContext<ChatIds | null>(null);

export function ChatProvider({ workspaceId, chatId, children }: ChatIds & { children: ReactNode }) {
  const ids = useMemo(() => ({ workspaceId, chatId }), [workspaceId, chatId]);
  return <ChatContext value={ids}>{children}</ChatContext>;
}

export function useChatIds(): ChatIds {
  const ids = useContext(ChatContext);
  if (!ids) throw new Error('used outside of a chat');
  return ids;
}

/** A part of the chat's view. Inside a `ChatProvider` whose chat has been loaded. */
export function useChatView<T>(select: (view: ChatView) => T): T {
  const { chatId } = useChatIds();
  return useChatStore((state) => {
    const view = state.views[chatId];
    if (!view) throw new Error('used before the chat was loaded');
    return select(view);
  });
}

/** The chat's actions. Each rejects with an `ApiError`; the view changes with the server's event. */
export function useChatActions() {
  const { workspaceId, chatId } = useChatIds();
  return useMemo(
    () => ({
      send: (content: string) => {
        followEnd(chatId);
        return api.send(workspaceId, chatId, { content, images: [] }, crypto.randomUUID());
      },
      answer: (questionId: string, answers: Answers, comment?: string) => {
        if (comment !== undefined) followEnd(chatId);
        return api.answer(workspaceId, chatId, questionId, answers, comment);
      },
      execute: async (planFile?: string) => {
        const answer = await api.execute(workspaceId, chatId, planFile);
        // A user who starts a run wants to see it.
        followEnd(chatId);
        return answer;
      },
      stop: () => api.stop(workspaceId, chatId),
    }),
    [workspaceId, chatId],
  );
}
