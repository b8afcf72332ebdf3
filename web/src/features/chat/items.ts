// What the timeline shows, in order: the history, what is being written, what is being sent.
import { useMemo } from 'react';
import { useShallow } from 'zustand/react/shallow';
import { useChatIds, useChatView } from '@/lib/chat/context';
import { useOutbox, type Outgoing } from '@/lib/chat/outbox';
import { rowsOf, type Row } from '@/lib/chat/rows';
import type { LiveText } from '@/lib/chat/view';

export type Item = Row | { kind: 'live'; key: string; live: LiveText } | { kind: 'outgoing'; key: string; outgoing: Outgoing };

export function useItems(): Item[] {
  const { chatId } = useChatIds();
  const messages = useChatView((view) => view.messages);
  const live = useChatView((view) => view.live);
  const outgoing = useOutbox(useShallow((state) => state.messages.filter((one) => one.chat === chatId)));
  const rows = useMemo(() => rowsOf(messages), [messages]);
  const queued = useChatView((view) => view.queued);
  return useMemo(
    () => [
      // What waits to be read stands above the composer until it is.
      ...rows.filter((row) => row.kind !== 'message' || !queued.includes(row.message.id)),
      ...Object.values(live).map((one): Item => ({ kind: 'live', key: one.messageId, live: one })),
      ...outgoing
        .filter((one) => !messages.some((message) => message.id === one.messageId))
        .map((one): Item => ({ kind: 'outgoing', key: one.key, outgoing: one })),
    ],
    [rows, live, outgoing, messages, queued],
  );
}
