import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '@/lib/api/client';
import type { Changes } from '@/lib/api/types';
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

/** The first page and those that were asked for since, until the first is read again. */
export function usePages(first: Changes) {
  const { workspaceId, chatId } = useChatIds();
  const [loaded, setLoaded] = useState<{ first: Changes; more: Changes[] }>({ first, more: [] });
  const pages = [first, ...(loaded.first === first ? loaded.more : [])];
  const next = pages.at(-1)?.next_cursor;
  const load = async () => {
    if (!next) return;
    const page = await api.changes(workspaceId, chatId, next);
    setLoaded({ first, more: [...pages.slice(1), page] });
  };
  return { pages, next, load };
}
