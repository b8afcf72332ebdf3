import { Menu, Search } from 'lucide-react';
import { ConnectionBadge } from '@/components/ConnectionBadge';
import { IconButton } from '@/components/IconButton';
import { useText } from '@/i18n';
import { showDialog } from '@/lib/dialogs';
import { openSidebar, useIsNarrow } from '@/lib/layout';
import type { Text } from '@/i18n';

/** On a phone the title; elsewhere only what is not shown beside the page. */
export function InboxHead({ t }: { t: Text<'inbox'> }) {
  const home = useText('home');
  const isNarrow = useIsNarrow();
  if (isNarrow) {
    return (
      <header className="flex h-14 shrink-0 items-center gap-1 px-4">
        <p aria-hidden className="mr-auto text-2xl font-semibold">{t('title')}</p>
        <ConnectionBadge />
        <IconButton label={t('search')} onClick={() => showDialog({ kind: 'palette' })}><Search size={18} aria-hidden /></IconButton>
        <IconButton label={home('openList')} onClick={() => openSidebar(false)}><Menu size={18} aria-hidden /></IconButton>
      </header>
    );
  }
  return (
    <header className="absolute top-2 right-3 z-10 flex items-center gap-2">
      <ConnectionBadge />
    </header>
  );
}
