// Goes to the message that is sought, fetching older ones until it is there.
import type { Virtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, useState, type RefObject } from 'react';
import { useChatIds, useChatView } from '@/lib/chat/context';
import { foundIt, unmark, useFocus } from '@/lib/chat/focus';
import { messagesOf } from '@/lib/chat/rows';
import { loadOlder } from '@/lib/chat/store';
import { toastError } from '@/lib/toast';
import type { Item } from './items';

/** The key of the row that was found, to be marked. */
export function useSeek(items: Item[], virtualizer: Virtualizer<HTMLDivElement, Element>, isFollowing: RefObject<boolean>): string | null {
  const { workspaceId, chatId } = useChatIds();
  const hasOlder = useChatView((view) => view.hasOlder);
  const { sought, found } = useFocus();
  const isFetching = useRef(false);
  const [rounds, setRounds] = useState(0);
  const message = sought?.chat === chatId ? sought.message : null;
  useEffect(() => {
    if (message === null || isFetching.current) return;
    const index = items.findIndex((item) => holds(item, message));
    if (index >= 0) {
      isFollowing.current = false;
      virtualizer.scrollToIndex(index, { align: 'center' });
      return foundIt();
    }
    if (!hasOlder) return unmark();
    isFetching.current = true;
    loadOlder(workspaceId, chatId).catch((reason: unknown) => {
      unmark();
      toastError(reason);
    }).finally(() => {
      isFetching.current = false;
      setRounds((done) => done + 1);
    });
  }, [message, items, rounds, hasOlder, virtualizer, isFollowing, workspaceId, chatId]);
  const marked = found?.chat === chatId ? found.message : null;
  return marked === null ? null : (items.find((item) => holds(item, marked))?.key ?? null);
}

function holds(item: Item, message: string): boolean {
  if (item.kind === 'live' || item.kind === 'outgoing') return false;
  return messagesOf(item).some((one) => one.id === message);
}
