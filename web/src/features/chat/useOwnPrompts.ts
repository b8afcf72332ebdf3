// The user's messages in this chat, newest first, including those being sent.
import { useMemo } from 'react';
import { useShallow } from 'zustand/react/shallow';
import { filesIn } from '@/lib/attached';
import { useChatIds, useChatView } from '@/lib/chat/context';
import { useOutbox } from '@/lib/chat/outbox';

export function useOwnPrompts(): string[] {
  const { chatId } = useChatIds();
  const messages = useChatView((view) => view.messages);
  const outgoing = useOutbox(useShallow((state) => state.messages.filter((one) => one.chat === chatId).map((one) => one.content)));
  return useMemo(() => {
    const said = messages.flatMap((one) => (one.author === 'user' && one.metadata.question_answer === undefined ? [one.content] : []));
    return [...said, ...outgoing].map((content) => filesIn(content).words).toReversed();
  }, [messages, outgoing]);
}
