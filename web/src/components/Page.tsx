import { Menu as MenuIcon, PanelLeft } from 'lucide-react';
import { useEffect, type ReactNode } from 'react';
import { useText } from '@/i18n';
import { useIsNarrow, useLayout } from '@/lib/layout';
import { ConnectionBadge } from './ConnectionBadge';
import { IconButton } from './IconButton';
import { OfflineBanner } from './OfflineBanner';

/** A page beside the list of chats: header, what went wrong with the connection, content. */
export function Page({ title, children }: { title: string; children: ReactNode }) {
  const t = useText('home');
  const isNarrow = useIsNarrow();
  const { isSidebarOpen } = useLayout();
  useEffect(() => { document.title = `${title} · Planwright`; }, [title]);
  const openList = () => useLayout.setState(isNarrow ? { isDrawerOpen: true } : { isSidebarOpen: true });
  return (
    <div className="flex h-full flex-col">
      <header className="flex h-13 shrink-0 items-center gap-2 border-b px-2 sm:px-4">
        {(isNarrow || !isSidebarOpen) && (
          <IconButton label={t('openList')} onClick={openList}>{isNarrow ? <MenuIcon size={18} aria-hidden /> : <PanelLeft size={16} aria-hidden />}</IconButton>
        )}
        <h1 className="font-semibold">{title}</h1>
        <div className="ml-auto"><ConnectionBadge /></div>
      </header>
      <OfflineBanner />
      {children}
    </div>
  );
}
