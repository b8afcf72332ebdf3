import { useRef, useState } from 'react';
import { Button } from '@/components/Button';
import { Confirm } from '@/components/Modal';
import { useText } from '@/i18n';
import { reviewApi } from '@/lib/api/review';
import type { ReviewComment } from '@/lib/api/types';
import { announce } from '@/lib/announce';
import { useChatIds, useChatView } from '@/lib/chat/context';
import { toast, toastError } from '@/lib/toast';
import type { Comments, Draft } from './comments';

/** Lines that were deleted have no number in the new file: the quote, as in a diff, says which they are. */
const sentOf = ({ path, side, from, to, quote, step, text }: Draft, place: number): ReviewComment => ({
  id: `c${place + 1}`,
  path,
  ...(step !== null && { step }),
  ...(side === 'new' && { lines: [from, to] }),
  quote: side === 'new' ? quote : quote.split('\n').map((line) => `-${line}`).join('\n'),
  text: text.trim(),
});

/** Sends all comments as one message. A question that waits would be left unanswered, so that is asked first. */
export function SendComments({ comments }: { comments: Comments }) {
  const t = useText('changesPage');
  const chat = useText('chat');
  const { workspaceId, chatId } = useChatIds();
  const isAsked = useChatView((view) => view.question !== null);
  const [isSending, setSending] = useState(false);
  const [isLeaving, setLeaving] = useState(false);
  const key = useRef(crypto.randomUUID());
  const safe = useRef<HTMLButtonElement>(null);
  const count = comments.ready.length;
  const send = async () => {
    setLeaving(false);
    setSending(true);
    const { ready } = comments;
    try {
      await reviewApi.sendComments(workspaceId, chatId, t('lead', { count }), ready.map(sentOf), key.current);
      key.current = crypto.randomUUID();
      comments.remove(ready.map(({ id }) => id));
      toast(t('sent', { count }));
      announce(t('sent', { count }));
    } catch (reason) {
      toastError(reason);
    } finally {
      setSending(false);
    }
  };
  return (
    <>
      <Button look="primary" disabled={isSending} onClick={() => (isAsked ? setLeaving(true) : void send())}>{t('send', { count })}</Button>
      <Confirm isOpen={isLeaving} close={() => setLeaving(false)} title={chat('leaveQuestionTitle')} hint={chat('leaveQuestionHint')} safe={safe}>
        <Button ref={safe} onClick={() => setLeaving(false)}>{chat('backToQuestion')}</Button>
        <Button look="primary" onClick={() => void send()}>{chat('sendAnyway')}</Button>
      </Confirm>
    </>
  );
}
