// The entries of the timeline, in order: the history, streaming answers, messages being sent.
import { useMemo } from 'react';
import { useShallow } from 'zustand/react/shallow';
import { useChatIds, useChatView } from '@/lib/chat/context';
import { useOutbox, type Outgoing } from '@/lib/chat/outbox';
import type { Message } from '@/lib/api/types';
import { openThread, rowsOf, type Row } from '@/lib/chat/rows';
import type { LiveText } from '@/lib/chat/view';

/** A task that is worked on shows what is being written for it. */
type ThreadItem = Row & { kind: 'thread' } & { live?: LiveText };
export type Item = Exclude<Row, { kind: 'thread' }> | ThreadItem | { kind: 'live'; key: string; live: LiveText } | { kind: 'outgoing'; key: string; outgoing: Outgoing };

/** A single line of what the agent did: such lines stand close together. */
export const isLine = (item: Item): boolean => item.kind === 'call' || item.kind === 'burst' || item.kind === 'thread';

export function useItems(): Item[] {
  const { chatId } = useChatIds();
  const messages = useChatView((view) => view.messages);
  const live = useChatView((view) => view.live);
  const outgoing = useOutbox(useShallow((state) => state.messages.filter((one) => one.chat === chatId)));
  const rows = useMemo(() => rowsOf(messages), [messages]);
  // Who waits for a delegate says nothing itself.
  const working = useMemo(() => openThread(rows), [rows]);
  const words = Object.values(live).at(-1);
  const queued = useChatView((view) => view.queued);
  return useMemo(
    () => [
      // What waits to be read stands above the composer until it is.
      ...rows
        .filter((row) => row.kind !== 'message' || !queued.includes(row.message.id))
        .map((row): Item => (row === working && words ? { ...row, live: { ...words, role: row.role ?? words.role } } : row)),
      ...(working ? [] : Object.values(live).map((one): Item => ({ kind: 'live', key: one.messageId, live: one }))),
      ...outgoing
        .filter((one) => !isHere(one, messages))
        .map((one): Item => ({ kind: 'outgoing', key: one.key, outgoing: one })),
    ],
    [rows, working, words, live, outgoing, messages, queued],
  );
}

/** Whether the history has it: by its id, or by its words while the answer that tells the id is on its way. */
function isHere(one: Outgoing, messages: Message[]): boolean {
  if (one.state === 'sending') return messages.findLast((message) => message.author === 'user')?.content === one.content;
  return messages.some((message) => message.id === one.messageId);
}
