import { CircleAlert, FolderPlus, Menu as MenuIcon } from 'lucide-react';
import { useEffect } from 'react';
import { Link } from 'wouter';
import { Button } from '@/components/Button';
import { ConnectionBadge } from '@/components/ConnectionBadge';
import { IconButton } from '@/components/IconButton';
import { Notice } from '@/components/Notice';
import { OfflineBanner } from '@/components/OfflineBanner';
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
  const addsFolders = useAddsFolders();
  useEffect(() => { document.title = 'Planwright'; }, []);
  return (
    <div className="flex h-full flex-col">
      <header className="flex h-13 shrink-0 items-center gap-2 border-b px-2 sm:px-4">
        {isNarrow && <IconButton label={t('openList')} onClick={() => useLayout.setState({ isDrawerOpen: true })}><MenuIcon size={18} aria-hidden /></IconButton>}
        <span className="font-semibold">Planwright</span>
        <div className="ml-auto"><ConnectionBadge /></div>
      </header>
      <OfflineBanner />
      <main id="content" className="min-h-0 flex-1 overflow-y-auto" aria-busy={isLoading}>
        <div className="mx-auto flex w-full max-w-3xl flex-col gap-6 px-4 py-10">
          <div>
            <h1 className="text-2xl font-semibold">{t('welcome')}</h1>
            <p className="mt-1 text-muted">{t('welcomeHint')}</p>
          </div>
          <ModelNotice />
          <NewChatForm workspaces={lists.map((one) => one.workspace)} />
          {error && (
            <Notice icon={<CircleAlert size={24} aria-hidden />} title={common('failed')} hint={error.message}><Button onClick={refetch}>{common('retry')}</Button></Notice>
          )}
          {isLoading && <Skeleton />}
          {!isLoading && !error && lists.length === 0 && <p className="text-muted">{t(addsFolders ? 'noWorkspace' : 'notInvited')}</p>}
          {lists.map(({ workspace, chats }) => (
            <section key={workspace.id} aria-labelledby={`w-${workspace.id}`}>
              <h2 id={`w-${workspace.id}`} className="mb-2 flex items-baseline gap-2 font-semibold"><span title={workspace.name} className="max-w-[60%] shrink-0 truncate">{workspace.name}</span><span title={workspace.path} className="min-w-0 truncate font-mono text-xs font-normal text-muted">{workspace.path}</span></h2>
              {chats.length === 0 && !isLoading ? <p className="text-muted">{t('noChats')}</p> : <ChatTable chats={chats} />}
            </section>
          ))}
          {addsFolders && <div><Button look="quiet" onClick={() => showDialog({ kind: 'add-folder' })}><FolderPlus size={15} aria-hidden />{t('addFolder')}</Button></div>}
        </div>
      </main>
    </div>
  );
}

function ChatTable({ chats }: { chats: Chat[] }) {
  const locale = useLocale((state) => state.locale);
  return (
    <ul className="divide-y divide-line overflow-hidden rounded-lg border">
      {chats.map((chat) => (
        <li key={chat.id}>
          <Link href={`/w/${chat.workspace_id}/c/${chat.id}`} data-mode={chat.config.agent_mode} className="flex min-h-11 items-center gap-3 px-4 py-2 hover:bg-surface">
            <ModeMark chat={chat} />
            <span className="min-w-0 flex-1 truncate font-medium">{chat.title}</span>
            <ChatMarks chat={chat} />
            <time dateTime={chat.updated_at} className="shrink-0 text-sm text-muted">{ago(locale, chat.updated_at)}</time>
          </Link>
        </li>
      ))}
    </ul>
  );
}

function Skeleton() {
  const t = useText('common');
  return (
    <div role="status" className="flex flex-col gap-2">
      <span className="sr-only">{t('loading')}</span>
      {[1, 2, 3].map((key) => <div key={key} className="h-11 rounded-md bg-line motion-safe:animate-pulse" />)}
    </div>
  );
}
