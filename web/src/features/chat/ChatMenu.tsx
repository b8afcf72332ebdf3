import { Ellipsis } from 'lucide-react';
import { lazy, useRef, useState, type FormEvent } from 'react';
import { useLocation } from 'wouter';
import { Button } from '@/components/Button';
import { DropDown } from '@/components/DropDown';
import { IconButton } from '@/components/IconButton';
import { Confirm, Modal } from '@/components/Modal';
import { part } from '@/components/part';
import { useText } from '@/i18n';
import { api } from '@/lib/api/client';
import { useChatIds, useChatView } from '@/lib/chat/context';
import { toastError } from '@/lib/toast';

const FrontmatterYaml = part(() => import('./FrontmatterYaml').then((all) => all.FrontmatterYaml));

export interface ChatMenuActions {
  /** Absent where there is no panel. */
  togglePanel?: () => void;
  showFile: () => void;
  rename: () => void;
  remove: () => void;
}

const load = () => import('./ChatMenuPopup');
const Popup = lazy(() => load().then((all) => ({ default: all.ChatMenuPopup })));

export function ChatMenu({ togglePanel }: { togglePanel?: () => void }) {
  const t = useText('chat');
  const [open, setOpen] = useState<'file' | 'rename' | 'delete' | null>(null);
  const actions: ChatMenuActions = { ...(togglePanel && { togglePanel }), showFile: () => setOpen('file'), rename: () => setOpen('rename'), remove: () => setOpen('delete') };
  return (
    <>
      <DropDown load={load} button={<IconButton label={t('menu')} aria-haspopup="menu"><Ellipsis size={16} aria-hidden /></IconButton>} menu={(button) => <Popup button={button} {...actions} />} />
      <Modal isOpen={open === 'file'} close={() => setOpen(null)} title={t('frontmatterHint')}><FrontmatterYaml left={() => setOpen(null)} /></Modal>
      <Rename isOpen={open === 'rename'} close={() => setOpen(null)} />
      <Delete isOpen={open === 'delete'} close={() => setOpen(null)} />
    </>
  );
}

function Rename({ isOpen, close }: { isOpen: boolean; close: () => void }) {
  const t = useText('chat');
  const { workspaceId, chatId } = useChatIds();
  const title = useChatView((view) => view.chat.title);
  const field = useRef<HTMLInputElement>(null);
  const onSubmit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const typed = String(new FormData(event.currentTarget).get('title')).trim();
    if (typed) void api.changeChat(workspaceId, chatId, { title: typed }).then(close, toastError);
  };
  return (
    <Modal isOpen={isOpen} close={close} title={t('renameTitle')} initial={field}>
      <form onSubmit={onSubmit} className="flex gap-2">
        <input ref={field} onFocus={(event) => event.target.select()} name="title" defaultValue={title} aria-label={t('title')} maxLength={200} className="min-w-0 flex-1 rounded-sm border border-control bg-bg px-2 py-1" />
        <Button type="submit" look="primary">{t('save')}</Button>
      </form>
    </Modal>
  );
}

function Delete({ isOpen, close }: { isOpen: boolean; close: () => void }) {
  const t = useText('chat');
  const common = useText('common');
  const safe = useRef<HTMLButtonElement>(null);
  const { workspaceId, chatId } = useChatIds();
  const [, navigate] = useLocation();
  const remove = () => void api.deleteChat(workspaceId, chatId).then(() => navigate('/'), toastError);
  return (
    <Confirm isOpen={isOpen} close={close} title={t('deleteTitle')} hint={t('deleteHint')} safe={safe}>
      <Button ref={safe} onClick={close}>{common('cancel')}</Button>
      <Button look="danger" onClick={remove}>{t('deleteConfirm')}</Button>
    </Confirm>
  );
}
