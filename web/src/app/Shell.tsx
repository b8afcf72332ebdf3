import { useCallback, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import { Sheet } from '@/components/Modal';
import { part } from '@/components/part';
import { useChatLists, useNewChat } from '@/features/home/queries';
import { Sidebar } from '@/features/home/Sidebar';
import { useText } from '@/i18n';
import { showDialog } from '@/lib/dialogs';
import { useShortcuts } from '@/lib/keys';
import { usualWorkspace, useLastWorkspace } from '@/lib/lastWorkspace';
import { useLayout, useSidebarLook } from '@/lib/layout';
import { useWidth } from '@/lib/panes';
import { Dialogs } from './Dialogs';
import { useCommandsEverywhere } from './useCommandsEverywhere';

const Rail = part(() => import('@/features/home/Rail').then((all) => all.Rail), null);
const Signals = part(() => import('@/features/home/Signals').then((all) => all.Signals), null);

/** The list of chats beside the page, folded to a rail, or as a drawer over it. */
export function Shell({ children }: { children: ReactNode }) {
  const t = useText('home');
  const common = useText('common');
  const { look, canDock } = useSidebarLook();
  const { isSidebarOpen, isDrawerOpen } = useLayout();
  const width = useWidth('sidebar');
  const { lists } = useChatLists();
  const newChat = useNewChat();
  const [location, navigate] = useLocation();
  const chats = lists.flatMap((list) => list.chats);
  const step = (by: number) => {
    const next = chats[chats.findIndex((chat) => location.includes(chat.id)) + by];
    if (next) navigate(`/w/${next.workspace_id}/c/${next.id}`);
  };
  const last = useLastWorkspace((state) => state.last);
  const open = lists.map((list) => list.workspace).filter((one) => one.right !== 'viewer');
  const workspace = (open.find((one) => location.startsWith(`/w/${one.id}/`)) ?? usualWorkspace(open, last))?.id;
  const { mutate } = newChat;
  const begin = useCallback(() => void (workspace && mutate({ workspace })), [workspace, mutate]);
  useCommandsEverywhere(workspace ? begin : null);
  useShortcuts({
    'Mod+b': () => useLayout.setState(canDock ? { isSidebarOpen: !isSidebarOpen } : { isDrawerOpen: !isDrawerOpen }),
    'Mod+/': () => showDialog({ kind: 'shortcuts' }),
    'Mod+k': () => showDialog({ kind: 'palette' }),
    'Mod+Shift+o': begin,
    'Alt+ArrowUp': () => step(-1),
    'Alt+ArrowDown': () => step(1),
  });
  return (
    <div className="flex h-full">
      <a href="#content" className="sr-only z-50 bg-bg p-2 focus:not-sr-only focus:fixed">{common('skipToContent')}</a>
      {look === 'docked' && <div style={{ width }} className="relative shrink-0 border-r"><Sidebar /></div>}
      {look === 'rail' && <div className="w-13 shrink-0 border-r"><Rail canDock={canDock} /></div>}
      {look !== 'docked' && <Sheet isOpen={isDrawerOpen} close={() => useLayout.setState({ isDrawerOpen: false })} title={t('title')} side="left"><Sidebar isDrawer /></Sheet>}
      <div className="min-w-0 flex-1">{children}</div>
      <Signals />
      <Dialogs />
    </div>
  );
}
