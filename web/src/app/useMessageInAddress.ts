// `?m=ID` names a message of the chat: the conversation goes there.
import { useEffect } from 'react';
import { useSearchParams } from 'wouter';
import { useChatIds } from '@/lib/chat/context';
import { seek } from '@/lib/chat/focus';

export function useMessageInAddress(): void {
  const { chatId } = useChatIds();
  const [params] = useSearchParams();
  const message = params.get('m');
  useEffect(() => {
    if (message) seek(chatId, message);
  }, [chatId, message]);
}
