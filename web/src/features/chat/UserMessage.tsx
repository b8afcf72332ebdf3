import { Pencil, RotateCcw, Undo2 } from 'lucide-react';
import { CopyButton } from '@/components/CopyButton';
import { IconButton } from '@/components/IconButton';
import { part } from '@/components/part';
import { useText } from '@/i18n';
import type { Message } from '@/lib/api/types';
import { AttachedFiles } from '@/components/AttachedFiles';
import { filesIn, IMAGE_ALONE } from '@/lib/attached';
import { useChatIds, useChatView } from '@/lib/chat/context';
import { sameImages } from '@/lib/chat/images';
import { post } from '@/lib/chat/outbox';
import { askRevert } from '@/lib/chat/revert';
import { useMayChange } from '@/lib/rights';
import { toastError } from '@/lib/toast';
import { useMe } from '@/lib/workspaces';
import { isBusy } from '@/lib/chat/view';
import { startEdit } from './editing';
import { onDemand } from './RoleBadge';

const MessageImages = part(() => import('./MessageImages').then((all) => all.MessageImages));

export function UserMessage({ message }: { message: Message }) {
  const t = useText('chat');
  const panel = useText('panel');
  const { workspaceId, chatId } = useChatIds();
  const isQueued = useChatView((view) => view.queued.includes(message.id));
  const isWorking = useChatView(isBusy);
  const mayChange = useMayChange(workspaceId);
  const isAnswer = message.metadata.question_answer !== undefined;
  const own = useMe().data?.user.name;
  const { user } = message.metadata;
  const { words, files } = filesIn(message.content);
  const author = typeof user === 'string' && user !== own ? user : null;
  return (
    <article aria-label={author ?? t('fromYou')} className="group flex items-start justify-end gap-1 max-sm:flex-col-reverse max-sm:items-end">
      <div className={`flex items-center pt-1 ${onDemand}`}>
        {!isAnswer && mayChange && (
          <>
            <IconButton label={t('sendAgain')} disabled={isWorking} onClick={() => void post(workspaceId, chatId, message.content, sameImages(workspaceId, chatId, message)).catch(toastError)}>
              <RotateCcw size={14} aria-hidden />
            </IconButton>
            <IconButton label={panel('takeBackHere')} onClick={() => askRevert(message.id)}><Undo2 size={14} aria-hidden /></IconButton>
            <IconButton label={t('edit')} onClick={() => startEdit(chatId, message)}><Pencil size={14} aria-hidden /></IconButton>
          </>
        )}
        <CopyButton text={message.content} label={t('copyMessage')} />
      </div>
      <div className={`max-w-[82%] rounded-lg rounded-br-sm bg-sunken px-3.5 py-2 text-base leading-[23px] break-words whitespace-pre-wrap max-sm:max-w-[90%] ${isQueued ? 'border border-dashed border-control' : ''}`}>
        {author !== null && <div aria-hidden className="text-xs text-muted">{author}</div>}
        {message.metadata.images !== undefined && <MessageImages message={message} />}
        {words === IMAGE_ALONE && message.metadata.images !== undefined ? null : words}
        <AttachedFiles files={files} />
      </div>
    </article>
  );
}
