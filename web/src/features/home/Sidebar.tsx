import { House, PanelLeft, Plus, Search, Settings, ShieldCheck, type LucideIcon } from 'lucide-react';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { AppearanceMenu } from '@/components/AppearanceMenu';
import { Button } from '@/components/Button';
import { IconButton } from '@/components/IconButton';
import { useText } from '@/i18n';
import type { Chat } from '@/lib/api/types';
import { showDialog } from '@/lib/dialogs';
import { modifier } from '@/lib/keys';
import { usualWorkspace, useLastWorkspace } from '@/lib/lastWorkspace';
import { useLayout } from '@/lib/layout';
import { ChatMarks, ModeMark } from './ChatMarks';
import { useChatLists, useNewChat } from './queries';

/** The list of chats. */
export function Sidebar({ isDrawer = false }: { isDrawer?: boolean }) {
  const t = useText('home');
  const audit = useText('audit');
  const { lists } = useChatLists();
  const newChat = useNewChat();
  const [location] = useLocation();
  const [sought, setSought] = useState('');
  // A new chat goes to the workspace that is being looked at.
  const last = useLastWorkspace((state) => state.last);
  const open = lists.map((one) => one.workspace).filter((one) => one.right !== 'viewer');
  const workspace = open.find((one) => location.startsWith(`/w/${one.id}/`)) ?? usualWorkspace(open, last);
  const isFound = (chat: Chat) => chat.title.toLowerCase().includes(sought.trim().toLowerCase());
  const close = () => useLayout.setState({ isDrawerOpen: false });
  const begin = <IconButton label={t('newChat')} disabled={!workspace || newChat.isPending} onClick={() => workspace && newChat.mutate({ workspace: workspace.id })} className="size-6"><Plus size={15} aria-hidden /></IconButton>;
  return (
    <nav aria-label={t('title')} className="flex h-full flex-col gap-0.5 bg-surface px-2 py-2">
      <div className="mb-1 flex h-8 items-center gap-1">
        <Link href="/" onClick={close} className="flex min-h-7 min-w-0 flex-1 items-center gap-2 rounded-sm px-2 font-semibold"><img src="/favicon.svg" alt="" className="size-4.5 dark:invert" />Planwright</Link>
        {!isDrawer && <IconButton label={t('closeList')} onClick={() => useLayout.setState({ isSidebarOpen: false })}><PanelLeft size={15} aria-hidden /></IconButton>}
      </div>
      <div className="relative mb-2">
        <Search size={14} aria-hidden className="absolute top-2 left-2.5 text-fg2 pointer-coarse:top-4" />
        <input type="search" value={sought} onChange={(event) => setSought(event.target.value)} placeholder={t('search')} aria-label={t('search')} className="h-7.5 w-full rounded-sm border border-line2 bg-bg pr-14 pl-8 placeholder:text-fg2 pointer-coarse:h-11" />
        {sought === '' && <kbd aria-hidden className="pointer-events-none absolute top-1.5 right-1.5 rounded-sm bg-sunken px-1.5 font-sans text-muted pointer-coarse:hidden">{modifier()} K</kbd>}
      </div>
      {sought.trim() !== '' && <Button look="quiet" onClick={() => showDialog({ kind: 'palette', text: sought.trim() })} className="mb-2 justify-start"><Search size={14} aria-hidden className="shrink-0" /><span className="truncate">{t('searchSaid', { text: sought.trim() })}</span></Button>}
      <SideLink to="/" icon={House}>{t('home')}</SideLink>
      <SideLink to="/audit" icon={ShieldCheck}>{audit('title')}</SideLink>
      <SideLink to="/settings" icon={Settings}>{t('settings')}</SideLink>
      <div className="mt-3 min-h-0 flex-1 overflow-y-auto">
        {lists.length === 0 && <div className="flex justify-end pr-1">{begin}</div>}
        {lists.map(({ workspace: { id, name }, chats }, place) => (
          <section key={id} aria-label={name} className="mb-3">
            <div className="flex h-7 items-center gap-1 pr-1 pl-2"><h2 title={name} className="min-w-0 flex-1 truncate font-semibold">{name}</h2>{(workspace ? workspace.id === id : place === 0) && begin}</div>
            <ul>{chats.filter(isFound).map((chat) => <ChatRow key={chat.id} chat={chat} isCurrent={location.includes(chat.id)} />)}</ul>
          </section>
        ))}
      </div>
      <AppearanceMenu />
    </nav>
  );
}

const rowClass = 'flex min-h-7 items-center gap-2.5 rounded-sm px-2 text-fg2 hover:bg-fg/5 hover:text-fg aria-[current]:bg-fg/8 aria-[current]:text-fg pointer-coarse:min-h-11';

function SideLink({ to, icon: Icon, children }: { to: string; icon: LucideIcon; children: string }) {
  const [location] = useLocation();
  const isCurrent = to === '/' ? location === '/' : location.startsWith(to);
  return (
    <Link href={to} aria-current={isCurrent ? 'page' : undefined} onClick={() => useLayout.setState({ isDrawerOpen: false })} className={rowClass}>
      <Icon size={15} aria-hidden />{children}
    </Link>
  );
}

function ChatRow({ chat, isCurrent }: { chat: Chat; isCurrent: boolean }) {
  return (
    <li>
      <Link href={`/w/${chat.workspace_id}/c/${chat.id}`} aria-current={isCurrent ? 'page' : undefined} onClick={() => useLayout.setState({ isDrawerOpen: false })} data-mode={chat.config.agent_mode} className={rowClass}>
        <ModeMark chat={chat} isShort />
        <span className="min-w-0 flex-1 truncate">{chat.title}</span>
        <ChatMarks chat={chat} isShort isOpen={isCurrent} />
      </Link>
    </li>
  );
}
