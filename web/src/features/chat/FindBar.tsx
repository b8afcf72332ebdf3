import { useQuery } from '@tanstack/react-query';
import { ChevronDown, ChevronUp, Search, X } from 'lucide-react';
import { useEffect, useState, type KeyboardEvent } from 'react';
import { IconButton } from '@/components/IconButton';
import { useText } from '@/i18n';
import { settingsApi } from '@/lib/api/settings';
import { useChatIds } from '@/lib/chat/context';
import { closeFind, useFind } from '@/lib/chat/find';
import { seek, unmark } from '@/lib/chat/focus';
import { useProblemLine } from '@/lib/problems';
import { useFoundWords } from './useFoundWords';

/** Finds words in the chat, also in what is not loaded: the server looks. */
export function FindBar() {
  const t = useText('chat');
  const lineOf = useProblemLine();
  const common = useText('common');
  const { workspaceId, chatId } = useChatIds();
  const { text, asked } = useFind();
  const sought = useLater(text.trim());
  useFoundWords(sought);
  const query = useQuery({ queryKey: ['search', chatId, sought], queryFn: () => settingsApi.searchChat(workspaceId, chatId, sought), enabled: sought !== '', staleTime: 0 });
  const found = query.data ?? [];
  const [place, setPlace] = useState(0);
  const first = found[0]?.id;
  useEffect(() => {
    setPlace(0);
    if (first) seek(chatId, first);
    else unmark();
  }, [first, sought, chatId]);
  // Asked for again while it is open: the words are there to be typed over.
  useEffect(() => {
    const box = document.getElementById('find-in-chat') as HTMLInputElement | null;
    box?.focus();
    box?.select();
  }, [asked]);
  const go = (by: number) => {
    const next = (place + by + found.length) % found.length;
    const message = found[next];
    if (!message) return;
    setPlace(next);
    seek(chatId, message.id);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'Escape') close();
    else if (event.key === 'Enter') go(event.shiftKey ? -1 : 1);
    else return;
    event.preventDefault();
  };
  const close = () => {
    unmark();
    closeFind();
  };
  const outcome = query.error ? (lineOf(query.error) ?? '') : sought === '' || query.isPending ? '' : found.length === 0 ? t('findNone') : t('findPlace', { place: place + 1, count: found.length });
  return (
    <div role="search" className="flex items-center gap-1 border-b bg-surface px-3 py-1.5">
      <Search size={15} aria-hidden className="shrink-0 text-muted" />
      <input id="find-in-chat" type="text" value={text} onChange={(event) => useFind.setState({ text: event.target.value })} onKeyDown={onKeyDown} aria-label={t('find')} placeholder={t('find')} className="min-h-8 min-w-0 flex-1 bg-transparent px-1.5 outline-none placeholder:text-muted" />
      <span role="status" className={`shrink-0 text-sm ${query.error ? 'text-critical' : 'text-muted'}`}>{outcome}</span>
      <IconButton label={t('findPrevious')} disabled={found.length < 2} onClick={() => go(1)}><ChevronUp size={16} aria-hidden /></IconButton>
      <IconButton label={t('findNext')} disabled={found.length < 2} onClick={() => go(-1)}><ChevronDown size={16} aria-hidden /></IconButton>
      <IconButton label={common('close')} onClick={close}><X size={16} aria-hidden /></IconButton>
    </div>
  );
}

/** What was typed, when the typing has paused. */
function useLater(text: string): string {
  const [later, setLater] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setLater(text), 200);
    return () => clearTimeout(timer);
  }, [text]);
  return later;
}
