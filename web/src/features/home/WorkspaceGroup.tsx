import { ChevronRight, CircleDot, Folder, FolderPlus, LoaderCircle, Plus } from 'lucide-react';
import { Link, useLocation } from 'wouter';
import { IconButton } from '@/components/IconButton';
import { useText } from '@/i18n';
import type { Chat, Workspace } from '@/lib/api/types';
import { BUSY } from '@/lib/chat/view';
import { showDialog } from '@/lib/dialogs';
import { setFold, useFolds } from '@/lib/folds';
import { useLayout } from '@/lib/layout';
import { useTitleOf } from '@/lib/title';
import { ChatMarks, ModeMark } from './ChatMarks';

export const rowClass = 'flex min-h-7 items-center gap-2.5 rounded-sm px-2 text-fg2 hover:bg-fg/5 hover:text-fg aria-[current]:bg-fg/8 aria-[current]:text-fg pointer-coarse:min-h-11';

interface Props {
  workspace: Workspace;
  chats: Chat[];
  sought: string;
  /** Whether it is open unless the user folded it. */
  opensItself: boolean;
  /** Begins a chat; nothing where the user may not. */
  begin: (() => void) | null;
  /** Whether new chats go here. */
  isTarget: boolean;
}

/** A workspace: its name, how many chats it has and whether one wants something; its chats when it is unfolded. */
export function WorkspaceGroup({ workspace, chats, sought, opensItself, begin, isTarget }: Props) {
  const t = useText('home');
  const [location] = useLocation();
  const kept = useFolds((state) => state.folds[workspace.id]);
  const isOpen = sought !== '' || (kept ?? opensItself);
  const found = sought === '' ? chats : chats.filter((chat) => chat.title.toLowerCase().includes(sought));
  if (sought !== '' && found.length === 0) return null;
  return (
    <section aria-label={workspace.name} className={isOpen ? 'mb-2' : ''}>
      <div className="group/head flex items-center pr-1">
        <h2 className="flex min-w-0 flex-1">
          <button type="button" aria-expanded={isOpen} title={workspace.name} onClick={() => setFold(workspace.id, !isOpen)} className={`${rowClass} w-full min-w-0 text-left ${isOpen ? 'font-semibold text-fg' : ''}`}>
            {isOpen ? <ChevronRight size={14} aria-hidden className="shrink-0 rotate-90" /> : <Folder size={15} aria-hidden className="shrink-0" />}
            <span className="min-w-0 flex-1 truncate">{workspace.name}</span>
            {!isOpen && <Wants chats={chats} />}
            {!isOpen && <span className="shrink-0">{chats.length}</span>}
          </button>
        </h2>
        {isOpen && <IconButton label={isTarget ? t('newChat') : t('newChatIn', { name: workspace.name })} disabled={!begin} onClick={() => begin?.()} className="size-6"><Plus size={15} aria-hidden /></IconButton>}
      </div>
      {isOpen && <ul>{found.map((chat) => <ChatRow key={chat.id} chat={chat} isCurrent={location.includes(chat.id)} />)}</ul>}
    </section>
  );
}

/** What the folded chats want: an answer, else patience. */
function Wants({ chats }: { chats: Chat[] }) {
  const t = useText('home');
  const busy = chats.find((chat) => BUSY[chat.state]);
  if (chats.some((chat) => chat.pending_question)) return <CircleDot size={13} role="img" aria-label={t('waits')} className="shrink-0 text-major" />;
  return busy && <span data-mode={busy.config.agent_mode}><LoaderCircle size={13} role="img" aria-label={t('running')} className="shrink-0 text-mode motion-safe:animate-spin" /></span>;
}

function ChatRow({ chat, isCurrent }: { chat: Chat; isCurrent: boolean }) {
  const titleOf = useTitleOf();
  return (
    <li>
      <Link href={`/w/${chat.workspace_id}/c/${chat.id}`} aria-current={isCurrent ? 'page' : undefined} onClick={() => useLayout.setState({ isDrawerOpen: false })} data-mode={chat.config.agent_mode} className={rowClass}>
        <ModeMark chat={chat} isShort />
        <span className="min-w-0 flex-1 truncate">{titleOf(chat)}</span>
        <ChatMarks chat={chat} isShort isOpen={isCurrent} />
      </Link>
    </li>
  );
}

export function AddFolderButton() {
  const t = useText('home');
  return <IconButton label={t('addWorkspace')} onClick={() => showDialog({ kind: 'add-folder' })} className="size-6"><FolderPlus size={14} aria-hidden /></IconButton>;
}
