import { Inbox, MessagesSquare, Search, Settings, ShieldCheck, type LucideIcon } from 'lucide-react';
import { Link, useLocation } from 'wouter';
import { AppearanceMenu } from '@/components/AppearanceMenu';
import { IconButton } from '@/components/IconButton';
import { Tip } from '@/components/Tip';
import { useText } from '@/i18n';
import { showDialog } from '@/lib/dialogs';
import { useInbox } from '@/lib/inbox';
import { openSidebar } from '@/lib/layout';

const look = 'relative size-9 aria-[current]:bg-fg/8 aria-[current]:text-fg';

/** The sidebar as a column of icons, where the page needs the width. */
export function Rail({ canDock }: { canDock: boolean }) {
  const t = useText('home');
  const [location] = useLocation();
  const waiting = useInbox().data?.needs_you.length ?? 0;
  return (
    <nav aria-label="Planwright" className="flex h-full flex-col items-center gap-2 bg-surface py-2">
      <Link href="/" aria-label="Planwright" className="mb-1 inline-flex size-9 items-center justify-center rounded-sm pointer-coarse:size-11"><img src="/favicon.svg" alt="" className="size-4.5 dark:invert" /></Link>
      <RailLink to="/" icon={Inbox} label={t('home')} count={waiting} isCurrent={location === '/'} />
      <IconButton label={t('search')} onClick={() => showDialog({ kind: 'palette' })} className={look}><Search size={16} aria-hidden /></IconButton>
      <IconButton label={t('openList')} aria-current={location.startsWith('/w/') ? true : undefined} aria-keyshortcuts="Control+B" onClick={() => openSidebar(canDock)} className={look}><MessagesSquare size={16} aria-hidden /></IconButton>
      <RailLink to="/audit" icon={ShieldCheck} label={t('audit')} isCurrent={location.startsWith('/audit')} />
      <RailLink to="/settings" icon={Settings} label={t('settings')} isCurrent={location.startsWith('/settings')} />
      <span className="mt-auto"><AppearanceMenu isShort /></span>
    </nav>
  );
}

function RailLink({ to, icon: Icon, label, count = 0, isCurrent }: { to: string; icon: LucideIcon; label: string; count?: number; isCurrent: boolean }) {
  const t = useText('home');
  const common = useText('common');
  return (
    <Tip text={label}>
      <Link href={to} aria-current={isCurrent ? 'page' : undefined} aria-label={count > 0 ? `${label}${common('colon')}${t('waits')} ${count}` : label} className={`inline-flex items-center justify-center rounded-sm text-fg2 hover:bg-sunken hover:text-fg pointer-coarse:size-11 ${look}`}>
        <Icon size={16} aria-hidden />
        {count > 0 && <span aria-hidden className="absolute top-0.5 right-0 grid min-w-4 place-items-center rounded-full bg-fg px-1 text-[10px] leading-4 font-semibold text-bg">{count}</span>}
      </Link>
    </Tip>
  );
}
