import { Menu } from '@base-ui/react/menu';
import { FileText, KeyRound, ListChecks, PanelRight, Pencil, Trash2 } from 'lucide-react';
import { useState, type ReactElement } from 'react';
import { AppearanceItems } from '@/components/AppearanceItems';
import { itemClass, popupClass, popupRoot } from '@/components/Popup';
import { part } from '@/components/part';
import { useText, withWords } from '@/i18n';
import { useChatIds, useChatView } from '@/lib/chat/context';
import { openFile } from '@/lib/layout';
import { useMayChange } from '@/lib/rights';
import type { ChatMenuActions } from './ChatMenu';
import { SaveItems } from './SaveItems';

const GrantsDialog = part(() => withWords('review', import('@/components/GrantsDialog')).then((all) => all.GrantsDialog), null);

/** Loaded when it is first opened, and then open. */
export function ChatMenuPopup({ button, togglePanel, showFile, rename, remove }: { button: ReactElement } & ChatMenuActions) {
  const t = useText('chat');
  const { workspaceId } = useChatIds();
  const mayChange = useMayChange(workspaceId);
  const planFile = useChatView((view) => view.chat.config.plan_file);
  const [areGrantsOpen, setGrantsOpen] = useState(false);
  return (
    <>
    <Menu.Root defaultOpen>
      <Menu.Trigger render={button} />
      <Menu.Portal container={popupRoot()}>
        <Menu.Positioner sideOffset={6} align="end" className="z-50">
          <Menu.Popup className={`min-w-48 p-1 ${popupClass}`}>
            {togglePanel && <Menu.Item className={`${itemClass} sm:hidden`} onClick={togglePanel}><PanelRight size={14} aria-hidden />{t('panel')}</Menu.Item>}
            {togglePanel && planFile && <Menu.Item className={itemClass} onClick={() => openFile(workspaceId, planFile)}><ListChecks size={14} aria-hidden />{t('planFile')}</Menu.Item>}
            <Menu.Item className={itemClass} onClick={showFile}><FileText size={14} aria-hidden />{t('frontmatter')}</Menu.Item>
            <Menu.Item className={itemClass} onClick={() => setGrantsOpen(true)}><KeyRound size={14} aria-hidden />{t('grants')}</Menu.Item>
            <SaveItems />
            <Menu.Separator className="my-1 h-px bg-line" />
            {mayChange && <Menu.Item className={itemClass} onClick={rename}><Pencil size={14} aria-hidden />{t('rename')}</Menu.Item>}
            {mayChange && <Menu.Item className={`${itemClass} text-critical`} onClick={remove}><Trash2 size={14} aria-hidden />{t('delete')}</Menu.Item>}
            <AppearanceItems />
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
    <GrantsDialog isOpen={areGrantsOpen} close={() => setGrantsOpen(false)} />
    </>
  );
}
