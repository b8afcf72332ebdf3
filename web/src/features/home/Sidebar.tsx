import { House, PanelLeftClose, Plus, Search, Settings, ShieldCheck, type LucideIcon } from 'lucide-react';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { AppearanceMenu } from '@/components/AppearanceMenu';
import { Button } from '@/components/Button';
import { IconButton } from '@/components/IconButton';
import { useText } from '@/i18n';
import type { Chat } from '@/lib/api/types';
import { showDialog } from '@/lib/dialogs';
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
  return (
    <nav aria-label={t('title')} className="flex h-full flex-col gap-2 bg-surface p-3">
      <div className="flex items-center gap-1">
        <Link href="/" onClick={() => useLayout.setState({ isDrawerOpen: false })} className="flex min-h-8 flex-1 items-center gap-2 rounded-sm px-2 font-semibold hover:bg-bg"><House size={15} aria-hidden />Planwright</Link>
        {!isDrawer && <IconButton label={t('closeList')} onClick={() => useLayout.setState({ isSidebarOpen: false })}><PanelLeftClose size={16} aria-hidden /></IconButton>}
      </div>
      <Button disabled={!workspace || newChat.isPending} onClick={() => workspace && newChat.mutate({ workspace: workspace.id })} className="justify-start"><Plus size={15} aria-hidden />{t('newChat')}</Button>
      <input type="search" value={sought} onChange={(event) => setSought(event.target.value)} placeholder={t('search')} aria-label={t('search')} className="min-h-8 rounded-sm border border-control bg-bg px-2.5 placeholder:text-muted" />
      {sought.trim() !== '' && <Button look="quiet" onClick={() => showDialog({ kind: 'palette', text: sought.trim() })} className="justify-start"><Search size={15} aria-hidden className="shrink-0" /><span className="truncate">{t('searchSaid', { text: sought.trim() })}</span></Button>}
      <div className="min-h-0 flex-1 overflow-y-auto">
        {lists.map(({ workspace: { id, name }, chats }) => (
          <section key={id} aria-label={name} className="mb-2">
            {lists.length > 1 && <h2 title={name} className="truncate px-2 py-1 text-xs font-semibold text-muted">{name}</h2>}
            <ul>{chats.filter(isFound).map((chat) => <ChatRow key={chat.id} chat={chat} isCurrent={location.includes(chat.id)} />)}</ul>
          </section>
        ))}
      </div>
      <SideLink to="/audit" icon={ShieldCheck}>{audit('title')}</SideLink>
      <SideLink to="/settings" icon={Settings}>{t('settings')}</SideLink>
      <AppearanceMenu />
    </nav>
  );
}

function SideLink({ to, icon: Icon, children }: { to: string; icon: LucideIcon; children: string }) {
  const [location] = useLocation();
  return (
    <Link href={to} aria-current={location.startsWith(to) ? 'page' : undefined} onClick={() => useLayout.setState({ isDrawerOpen: false })} className="flex min-h-8 items-center gap-2 rounded-sm px-2 text-muted hover:bg-bg hover:text-fg aria-[current]:bg-bg aria-[current]:text-fg pointer-coarse:min-h-11">
      <Icon size={15} aria-hidden />{children}
    </Link>
  );
}

function ChatRow({ chat, isCurrent }: { chat: Chat; isCurrent: boolean }) {
  return (
    <li>
      <Link
        href={`/w/${chat.workspace_id}/c/${chat.id}`}
        aria-current={isCurrent ? 'page' : undefined}
        onClick={() => useLayout.setState({ isDrawerOpen: false })}
        data-mode={chat.config.agent_mode}
        className={`flex min-h-9 items-center gap-2 rounded-sm px-2 pointer-coarse:min-h-11 ${isCurrent ? 'bg-bg font-medium shadow-sm ring-1 ring-control ring-inset' : 'text-muted hover:bg-bg hover:text-fg'}`}
      >
        <ModeMark chat={chat} />
        <span className="min-w-0 flex-1 truncate">{chat.title}</span>
        <ChatMarks chat={chat} isShort isOpen={isCurrent} />
      </Link>
    </li>
  );
}
