import { Menu } from '@base-ui/react/menu';
import { FileDiff, FileText, History, PanelRight, Pencil, Trash2 } from 'lucide-react';
import type { ReactElement } from 'react';
import { useLocation } from 'wouter';
import { AppearanceItems } from '@/components/AppearanceItems';
import { itemClass, popupClass, popupRoot } from '@/components/Popup';
import { useText } from '@/i18n';
import { useChatIds, useChatView } from '@/lib/chat/context';
import { useMayChange } from '@/lib/rights';
import type { ChatMenuActions } from './ChatMenu';

/** Loaded when it is first opened, and then open. */
export function ChatMenuPopup({ button, togglePanel, showFile, rename, remove }: { button: ReactElement } & ChatMenuActions) {
  const t = useText('chat');
  const timeline = useText('timeline');
  const changes = useText('changes');
  const { workspaceId, chatId } = useChatIds();
  const mayChange = useMayChange(workspaceId);
  const [, navigate] = useLocation();
  const go = (page: string) => () => navigate(`/w/${workspaceId}/c/${chatId}/${page}`);
  const title = useChatView((view) => view.chat.title);
  return (
    <Menu.Root defaultOpen>
      <Menu.Trigger render={button} />
      <Menu.Portal container={popupRoot()}>
        <Menu.Positioner sideOffset={6} align="end" className="z-50">
          <Menu.Popup className={`min-w-48 p-1 ${popupClass}`}>
            <p className="max-w-64 border-b px-2 pt-1 pb-1.5 font-semibold break-words sm:hidden">{title}</p>
            <Menu.Item className={`${itemClass} sm:hidden`} onClick={togglePanel}><PanelRight size={14} aria-hidden />{t('panel')}</Menu.Item>
            <Menu.Item className={`${itemClass} lg:hidden`} onClick={showFile}><FileText size={14} aria-hidden />{t('frontmatter')}</Menu.Item>
            <Menu.Item className={itemClass} onClick={go('changes')}><FileDiff size={14} aria-hidden />{changes('title')}</Menu.Item>
            <Menu.Item className={itemClass} onClick={go('timeline')}><History size={14} aria-hidden />{timeline('title')}</Menu.Item>
            {mayChange && <Menu.Item className={itemClass} onClick={rename}><Pencil size={14} aria-hidden />{t('rename')}</Menu.Item>}
            {mayChange && <Menu.Item className={`${itemClass} text-critical`} onClick={remove}><Trash2 size={14} aria-hidden />{t('delete')}</Menu.Item>}
            <AppearanceItems />
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
