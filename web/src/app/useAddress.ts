// What the address of a chat names: `?m=ID` a message, `?file=PATH&line=N` a file. The page goes there.
import { useEffect } from 'react';
import { useSearchParams } from 'wouter';
import { useChatIds } from '@/lib/chat/context';
import { seek } from '@/lib/chat/focus';
import { openFile } from '@/lib/layout';

export function useAddress(): void {
  const { workspaceId, chatId } = useChatIds();
  const [params] = useSearchParams();
  const [message, file, line] = ['m', 'file', 'line'].map((name) => params.get(name));
  useEffect(() => {
    if (message) seek(chatId, message);
  }, [chatId, message]);
  useEffect(() => {
    if (file) openFile(workspaceId, file, Number(line) || null);
  }, [workspaceId, file, line]);
}
