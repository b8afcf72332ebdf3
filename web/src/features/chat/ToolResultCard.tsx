import { useState } from 'react';
import { Button } from '@/components/Button';
import { useText } from '@/i18n';
import { api } from '@/lib/api/client';
import type { Message } from '@/lib/api/types';
import { useChatIds } from '@/lib/chat/context';
import { toastError } from '@/lib/toast';
import { ActivityLine } from './ActivityLine';
import { ToolText } from './ToolText';
import { printedOf, toolOf } from './toolCall';

/** A result without its call, which is on an older page. */
export function ToolResultCard({ message }: { message: Message }) {
  const t = useText('chat');
  const [isOpen, setOpen] = useState(false);
  return (
    <article aria-label={t('toolResult', { tool: toolOf(message) })} >
      <ActivityLine isOpen={isOpen} toggle={() => setOpen(!isOpen)}>{toolOf(message)}</ActivityLine>
      {isOpen && <div className="my-1 ml-5.5 overflow-hidden rounded-md border bg-surface"><ToolResultBody message={message} /></div>}
    </article>
  );
}

/** The beginning of a long body is enough to draw; the rest is drawn, or fetched, on demand. */
const SHOWN = 4000;

export function ToolResultBody({ message }: { message: Message }) {
  const t = useText('chat');
  const { workspaceId, chatId } = useChatIds();
  const [whole, setWhole] = useState<string | null>(null);
  const isCut = message.metadata.body_size !== undefined;
  const printed = printedOf(message);
  const showAll = () => {
    if (!isCut) return setWhole(printed);
    return void api.body(workspaceId, chatId, message.id).then((body) => setWhole(printedOf(body as Message)), toastError);
  };
  if (message.content === '') return <p className="px-3 py-2 text-sm text-muted">{t('noOutput')}</p>;
  return (
    <>
      <ToolText label={t('result')} text={whole ?? printed.slice(0, SHOWN)} hasLinks={toolOf(message) !== 'read'} />
      {whole === null && (isCut || printed.length > SHOWN) && (
        <div className="border-t p-1"><Button look="quiet" onClick={showAll}>{t('showAll')}</Button></div>
      )}
    </>
  );
}
