import { Menu as MenuIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { useText } from '@/i18n';
import { useIsNarrow, useLayout } from '@/lib/layout';
import { ConnectionBadge } from './ConnectionBadge';
import { IconButton } from './IconButton';
import { OfflineBanner } from './OfflineBanner';

/** A page beside the list of chats that is no chat. */
export function Page({ title, actions, children }: { title: string; actions?: ReactNode; children: ReactNode }) {
  const home = useText('home');
  const isNarrow = useIsNarrow();
  const { isSidebarOpen } = useLayout();
  return (
    <div className="flex h-full flex-col">
      <header className="flex h-13 shrink-0 items-center gap-2 border-b px-2 sm:px-4">
        {(isNarrow || !isSidebarOpen) && (
          <IconButton label={home('openList')} onClick={() => useLayout.setState(isNarrow ? { isDrawerOpen: true } : { isSidebarOpen: true })}><MenuIcon size={18} aria-hidden /></IconButton>
        )}
        <h1 className="font-semibold">{title}</h1>
        <div className="ml-auto flex items-center gap-2">{actions}<ConnectionBadge /></div>
      </header>
      <OfflineBanner />
      <main id="content" tabIndex={-1} className="min-h-0 flex-1 overflow-y-auto">{children}</main>
    </div>
  );
}
