import { Inbox, PanelLeft, Search, Settings, ShieldCheck, type LucideIcon } from 'lucide-react';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { AppearanceMenu } from '@/components/AppearanceMenu';
import { Button } from '@/components/Button';
import { IconButton } from '@/components/IconButton';
import { PaneHandle } from '@/components/PaneHandle';
import { useText } from '@/i18n';
import { showDialog } from '@/lib/dialogs';
import { useInbox } from '@/lib/inbox';
import { modifier } from '@/lib/keys';
import { usualWorkspace, useLastWorkspace } from '@/lib/lastWorkspace';
import { useLayout } from '@/lib/layout';
import { useAddsFolders } from '@/lib/workspaces';
import { useChatLists, useNewChat, type WorkspaceChats } from './queries';
import { AddFolderButton, rowClass, WorkspaceGroup } from './WorkspaceGroup';

/** Pages, and the chats of each workspace in a group that folds. */
export function Sidebar({ isDrawer = false }: { isDrawer?: boolean }) {
  const t = useText('home');
  const { lists } = useChatLists();
  const newChat = useNewChat();
  const inbox = useInbox();
  const [location] = useLocation();
  const [sought, setSought] = useState('');
  const addsFolders = useAddsFolders();
  const last = useLastWorkspace((state) => state.last);
  const open = lists.map((one) => one.workspace).filter((one) => one.right !== 'viewer');
  const current = lists.find(({ workspace }) => location.startsWith(`/w/${workspace.id}/`))?.workspace.id;
  // A new chat goes to the workspace that is being looked at.
  const target = open.find(({ id }) => id === current) ?? usualWorkspace(open, last);
  const close = () => useLayout.setState({ isDrawerOpen: false });
  const group = ({ workspace, chats }: WorkspaceChats) => (
    <WorkspaceGroup
      key={workspace.id}
      workspace={workspace}
      chats={chats.filter((chat) => !chat.archived)}
      sought={sought.trim().toLowerCase()}
      opensItself={workspace.id === current || lists.length === 1}
      begin={workspace.right === 'viewer' || newChat.isPending ? null : () => newChat.mutate({ workspace: workspace.id })}
      isTarget={workspace.id === (target?.id ?? lists[0]?.workspace.id)}
    />
  );
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
      <SideLink to="/" icon={Inbox} count={inbox.data?.needs_you.length ?? 0}>{t('home')}</SideLink>
      <SideLink to="/audit" icon={ShieldCheck}>{t('audit')}</SideLink>
      <SideLink to="/settings" icon={Settings}>{t('settings')}</SideLink>
      <div className="mt-3 min-h-0 flex-1 overflow-y-auto">
        {lists.filter(({ workspace }) => workspace.id === current).map(group)}
        <div className="flex h-7 items-center pr-1 pl-2 text-fg2"><p className="flex-1">{t('workspaces')}</p>{addsFolders && <AddFolderButton />}</div>
        {lists.filter(({ workspace }) => workspace.id !== current).map(group)}
      </div>
      <AppearanceMenu />
      {!isDrawer && <PaneHandle pane="sidebar" side="right" />}
    </nav>
  );
}

function SideLink({ to, icon: Icon, count = 0, children }: { to: string; icon: LucideIcon; count?: number; children: string }) {
  const [location] = useLocation();
  const t = useText('home');
  const common = useText('common');
  const isCurrent = to === '/' ? location === '/' : location.startsWith(to);
  return (
    <Link href={to} aria-current={isCurrent ? 'page' : undefined} onClick={() => useLayout.setState({ isDrawerOpen: false })} className={rowClass}>
      <Icon size={15} aria-hidden /><span className="flex-1">{children}</span>
      {count > 0 && <span><span className="sr-only">{t('waits')}{common('colon')}</span>{count}</span>}
    </Link>
  );
}
