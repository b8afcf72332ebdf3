import { Menu } from '@base-ui/react/menu';
import { PanelRight, Pencil, Trash2 } from 'lucide-react';
import type { ReactElement } from 'react';
import { AppearanceItems } from '@/components/AppearanceItems';
import { itemClass, popupClass, popupRoot } from '@/components/Popup';
import { useText } from '@/i18n';
import { useChatIds } from '@/lib/chat/context';
import { useMayChange } from '@/lib/rights';
import type { ChatMenuActions } from './ChatMenu';

/** Loaded when it is first opened, and then open. */
export function ChatMenuPopup({ button, togglePanel, rename, remove }: { button: ReactElement } & ChatMenuActions) {
  const t = useText('chat');
  const mayChange = useMayChange(useChatIds().workspaceId);
  return (
    <Menu.Root defaultOpen>
      <Menu.Trigger render={button} />
      <Menu.Portal container={popupRoot()}>
        <Menu.Positioner sideOffset={6} align="end" className="z-50">
          <Menu.Popup className={`min-w-48 p-1 ${popupClass}`}>
            <Menu.Item className={`${itemClass} sm:hidden`} onClick={togglePanel}><PanelRight size={14} aria-hidden />{t('panel')}</Menu.Item>
            {mayChange && <Menu.Item className={itemClass} onClick={rename}><Pencil size={14} aria-hidden />{t('rename')}</Menu.Item>}
            {mayChange && <Menu.Item className={`${itemClass} text-critical`} onClick={remove}><Trash2 size={14} aria-hidden />{t('delete')}</Menu.Item>}
            <AppearanceItems />
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
