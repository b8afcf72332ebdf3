import { Menu } from '@base-ui/react/menu';
import { Ellipsis, PanelRight, Pencil, Trash2 } from 'lucide-react';
import { useRef, useState, type FormEvent } from 'react';
import { useLocation } from 'wouter';
import { Button } from '@/components/Button';
import { IconButton } from '@/components/IconButton';
import { Confirm, Modal } from '@/components/Modal';
import { itemClass, popupClass } from '@/components/Popup';
import { AppearanceItems } from '@/components/AppearanceItems';
import { useText } from '@/i18n';
import { api } from '@/lib/api/client';
import { useChatIds, useChatView } from '@/lib/chat/context';
import { toastError } from '@/lib/toast';

export function ChatMenu({ togglePanel }: { togglePanel: () => void }) {
  const t = useText('chat');
  const [open, setOpen] = useState<'rename' | 'delete' | null>(null);
  return (
    <>
      <Menu.Root>
        <Menu.Trigger render={<IconButton label={t('menu')}><Ellipsis size={16} aria-hidden /></IconButton>} />
        <Menu.Portal>
          <Menu.Positioner sideOffset={6} align="end" className="z-50">
            <Menu.Popup className={`min-w-48 p-1 ${popupClass}`}>
              <Menu.Item className={`${itemClass} sm:hidden`} onClick={togglePanel}><PanelRight size={14} aria-hidden />{t('panel')}</Menu.Item>
              <Menu.Item className={itemClass} onClick={() => setOpen('rename')}><Pencil size={14} aria-hidden />{t('rename')}</Menu.Item>
              <Menu.Item className={`${itemClass} text-critical`} onClick={() => setOpen('delete')}><Trash2 size={14} aria-hidden />{t('delete')}</Menu.Item>
              <AppearanceItems />
            </Menu.Popup>
          </Menu.Positioner>
        </Menu.Portal>
      </Menu.Root>
      <Rename isOpen={open === 'rename'} close={() => setOpen(null)} />
      <Delete isOpen={open === 'delete'} close={() => setOpen(null)} />
    </>
  );
}

function Rename({ isOpen, close }: { isOpen: boolean; close: () => void }) {
  const t = useText('chat');
  const { workspaceId, chatId } = useChatIds();
  const title = useChatView((view) => view.chat.title);
  const onSubmit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const typed = String(new FormData(event.currentTarget).get('title')).trim();
    if (typed) void api.changeChat(workspaceId, chatId, { title: typed }).then(close, toastError);
  };
  return (
    <Modal isOpen={isOpen} close={close} title={t('renameTitle')}>
      <form onSubmit={onSubmit} className="flex gap-2">
        <input name="title" defaultValue={title} aria-label={t('title')} maxLength={200} className="min-w-0 flex-1 rounded-sm border border-control bg-bg px-2 py-1" />
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
