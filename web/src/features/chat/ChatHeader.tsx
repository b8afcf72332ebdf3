import { Menu as MenuIcon, PanelLeft, PanelRight } from 'lucide-react';
import type { ReactNode } from 'react';
import { ConnectionBadge } from '@/components/ConnectionBadge';
import { IconButton } from '@/components/IconButton';
import { useText } from '@/i18n';
import { useChatView } from '@/lib/chat/context';
import { useIsNarrow, useLayout } from '@/lib/layout';
import { ChatMenu } from './ChatMenu';
import { Frontmatter } from './Frontmatter';

/** The mode is its colour; `controls` are the role menu and the mode toggle. */
export function ChatHeader({ controls, togglePanel, isPanelOpen }: { controls: ReactNode; togglePanel: () => void; isPanelOpen: boolean }) {
  const t = useText('chat');
  const home = useText('home');
  const title = useChatView((view) => view.chat.title);
  const isNarrow = useIsNarrow();
  const { isSidebarOpen } = useLayout();
  const openList = () => useLayout.setState(isNarrow ? { isDrawerOpen: true } : { isSidebarOpen: true });
  return (
    <header className="flex h-13 shrink-0 items-center gap-2 border-b-2 border-mode bg-mode-soft px-2 max-sm:gap-1 lg:px-4">
      {(isNarrow || !isSidebarOpen) && (
        <IconButton label={home('openList')} onClick={openList}>{isNarrow ? <MenuIcon size={18} aria-hidden /> : <PanelLeft size={16} aria-hidden />}</IconButton>
      )}
      <h1 title={title} className="min-w-0 truncate font-semibold sm:max-lg:min-w-32 max-sm:sr-only">{title}</h1>
      <div className="min-w-0 shrink-[4] max-lg:hidden"><Frontmatter /></div>
      <div className="ml-auto flex items-center gap-2 max-sm:gap-1">
        <ConnectionBadge />
        {controls}
        <IconButton label={t('panel')} aria-pressed={isPanelOpen} onClick={togglePanel} className="max-sm:hidden"><PanelRight size={16} aria-hidden /></IconButton>
        <ChatMenu togglePanel={togglePanel} />
      </div>
    </header>
  );
}
