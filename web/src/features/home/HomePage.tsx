import { CircleAlert, FolderPlus, Menu as MenuIcon, PanelLeft } from 'lucide-react';
import { useEffect } from 'react';
import { Link } from 'wouter';
import { Button } from '@/components/Button';
import { ConnectionBadge } from '@/components/ConnectionBadge';
import { IconButton } from '@/components/IconButton';
import { Notice } from '@/components/Notice';
import { OfflineBanner } from '@/components/OfflineBanner';
import { Skeleton } from '@/components/Skeleton';
import { useLocale, useText } from '@/i18n';
import type { Chat } from '@/lib/api/types';
import { showDialog } from '@/lib/dialogs';
import { useIsNarrow, useLayout } from '@/lib/layout';
import { ago } from '@/lib/time';
import { useAddsFolders } from '@/lib/workspaces';
import { ChatMarks, ModeMark } from './ChatMarks';
import { ModelNotice } from './ModelNotice';
import { NewChatForm } from './NewChatForm';
import { useChatLists } from './queries';

export function HomePage() {
  const t = useText('home');
  const common = useText('common');
  const { lists, isLoading, error, refetch } = useChatLists();
  const isNarrow = useIsNarrow();
  const isSidebarOpen = useLayout((state) => state.isSidebarOpen);
  const addsFolders = useAddsFolders();
  useEffect(() => { document.title = 'Planwright'; }, []);
  return (
    <div className="flex h-full flex-col">
      <header className="flex h-12 shrink-0 items-center gap-2 px-2 sm:px-4">
        {(isNarrow || !isSidebarOpen) && <IconButton label={t('openList')} onClick={() => useLayout.setState(isNarrow ? { isDrawerOpen: true } : { isSidebarOpen: true })}>{isNarrow ? <MenuIcon size={17} aria-hidden /> : <PanelLeft size={16} aria-hidden />}</IconButton>}
        <div className="ml-auto"><ConnectionBadge /></div>
      </header>
      <OfflineBanner />
      <main id="content" className="min-h-0 flex-1 overflow-y-auto" aria-busy={isLoading}>
        <div className="mx-auto flex w-full max-w-216 flex-col gap-6 px-4 pt-2 pb-10">
          <h1 className="-mb-2 text-xl font-semibold max-sm:text-2xl">{t('welcome')}</h1>
          <ModelNotice />
          <NewChatForm workspaces={lists.map((one) => one.workspace)} />
          {error && (
            <Notice icon={<CircleAlert size={24} aria-hidden />} title={common('failed')} hint={error.message}><Button onClick={refetch}>{common('retry')}</Button></Notice>
          )}
          {isLoading && <Skeleton className="px-0" />}
          {!isLoading && !error && lists.length === 0 && <p className="text-muted">{t(addsFolders ? 'noWorkspace' : 'notInvited')}</p>}
          {lists.map(({ workspace, chats }) => (
            <section key={workspace.id} aria-labelledby={`w-${workspace.id}`}>
              <h2 id={`w-${workspace.id}`} className="flex items-baseline gap-2 border-b pb-1.5 font-semibold"><span title={workspace.name} className="max-w-[60%] shrink-0 truncate">{workspace.name}</span><span title={workspace.path} className="min-w-0 truncate font-mono text-xs font-normal text-muted">{workspace.path}</span></h2>
              {chats.length === 0 && !isLoading ? <p className="py-2 text-muted">{t('noChats')}</p> : <ChatTable chats={chats} />}
            </section>
          ))}
          {addsFolders && <div className="-ml-3"><Button look="quiet" onClick={() => showDialog({ kind: 'add-folder' })}><FolderPlus size={15} aria-hidden />{t('addFolder')}</Button></div>}
        </div>
      </main>
    </div>
  );
}

function ChatTable({ chats }: { chats: Chat[] }) {
  const locale = useLocale((state) => state.locale);
  return (
    <ul className="py-1">
      {chats.map((chat) => (
        <li key={chat.id}>
          <Link href={`/w/${chat.workspace_id}/c/${chat.id}`} data-mode={chat.config.agent_mode} className="-mx-2.5 flex min-h-8.5 items-center gap-3 rounded-md px-2.5 hover:bg-sunken pointer-coarse:min-h-11">
            <ModeMark chat={chat} />
            <span className="min-w-0 flex-1 truncate">{chat.title}</span>
            <ChatMarks chat={chat} />
            <time dateTime={chat.updated_at} className="w-20 shrink-0 text-right text-muted">{ago(locale, chat.updated_at)}</time>
          </Link>
        </li>
      ))}
    </ul>
  );
}
