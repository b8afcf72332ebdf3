// What the address of a chat names: `?m=ID` a message, `?file=PATH&line=N` a file. The page goes there.
import { useEffect } from 'react';
import { useSearchParams } from 'wouter';
import { useChatIds } from '@/lib/chat/context';
import { seek } from '@/lib/chat/focus';
import { openFile } from '@/lib/layout';

/** `isChat`: the page is the chat itself. On its other pages `file` is a place of their own. */
export function useAddress(isChat: boolean): void {
  const { workspaceId, chatId } = useChatIds();
  const [params] = useSearchParams();
  const [message, file, line] = ['m', 'file', 'line'].map((name) => params.get(name));
  useEffect(() => {
    if (isChat && message) seek(chatId, message);
  }, [isChat, chatId, message]);
  useEffect(() => {
    if (isChat && file) openFile(workspaceId, file, Number(line) || null);
  }, [isChat, workspaceId, file, line]);
}
