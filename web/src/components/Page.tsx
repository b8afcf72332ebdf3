import { Menu as MenuIcon } from 'lucide-react';
import { useEffect, type ReactNode } from 'react';
import { useText } from '@/i18n';
import { openSidebar, useIsNarrow } from '@/lib/layout';
import { ConnectionBadge } from './ConnectionBadge';
import { IconButton } from './IconButton';
import { OfflineBanner } from './OfflineBanner';

/** A page beside the list of chats that is no chat: header, what is wrong with the connection, content, perhaps links to its parts. */
export function Page({ title, actions, aside, children }: { title: string; actions?: ReactNode; aside?: ReactNode; children: ReactNode }) {
  const t = useText('home');
  const isNarrow = useIsNarrow();
  useEffect(() => { document.title = `${title} · Planwright`; }, [title]);
  return (
    <div className="flex h-full flex-col">
      <header className="flex h-12 shrink-0 items-center gap-2 border-b px-2 sm:px-4">
        {isNarrow && <IconButton label={t('openList')} onClick={() => openSidebar(false)}><MenuIcon size={18} aria-hidden /></IconButton>}
        <h1 className="min-w-0 truncate text-base font-semibold max-sm:text-2xl">{title}</h1>
        <div className="ml-auto flex items-center gap-2">{actions}<ConnectionBadge /></div>
      </header>
      <OfflineBanner />
      <div className="flex min-h-0 flex-1 max-lg:flex-col">
        {aside}
        <main id="content" tabIndex={0} className="relative min-h-0 min-w-0 flex-1 overflow-y-auto">{children}</main>
      </div>
    </div>
  );
}
