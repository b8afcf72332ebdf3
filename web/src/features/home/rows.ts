// Rows of the inbox: from the server's groups or from the lists of chats, and which of them the filters let through.
import type { Inbox, InboxChat } from '@/lib/api/inbox';
import type { Chat, RoleName, Workspace } from '@/lib/api/types';
import { BUSY } from '@/lib/chat/view';

export const GROUPS = ['needs_you', 'running', 'to_review', 'recent'] as const satisfies (keyof Inbox)[];
type GroupName = (typeof GROUPS)[number];
/** Open work in its groups, every chat there is, or those that were put away. */
export type Shown = 'open' | 'all' | 'archived';

export interface Row extends Omit<InboxChat, 'right'> {
  group: GroupName;
  archived: boolean;
}

export interface Filter {
  text: string;
  workspace: string;
  person: string;
  role: RoleName | '';
  shown: Shown;
}

export const NO_FILTER: Filter = { text: '', workspace: '', person: '', role: '', shown: 'open' };

export const rowsOf = (inbox: Inbox): Row[] => GROUPS.flatMap((group) => inbox[group].map((chat) => ({ ...chat, group, archived: false })));

/** Chats of the lists, newest first. What the inbox knows of one is taken from there. */
export function listedRows(lists: { workspace: Workspace; chats: Chat[] }[], known: Row[], shown: Shown): Row[] {
  const byId = new Map(known.map((row) => [row.id, row]));
  const rows = lists.flatMap(({ workspace, chats }) => chats.filter((chat) => (shown === 'archived') === chat.archived).map((chat) => byId.get(chat.id) ?? listed(workspace, chat)));
  return rows.toSorted((a, b) => Number(b.pinned) - Number(a.pinned) || b.updated_at.localeCompare(a.updated_at));
}

function listed(workspace: Workspace, chat: Chat): Row {
  const { id, workspace_id, title, config, state, pinned, archived, person, usage, updated_at } = chat;
  const progress = chat.progress ? { done: chat.progress.done, skipped: chat.progress.skipped, total: chat.progress.total, current_step: null, current_action: null } : null;
  return { id, workspace_id, workspace_name: workspace.name, title, config, state, pinned, archived, person, question: null, progress, cost: usage.cost, files: 0, viewed: 0, updated_at, group: BUSY[state] ? 'running' : 'recent' };
}

export function passes(row: Row, filter: Filter): boolean {
  const text = filter.text.trim().toLowerCase();
  return (
    (filter.workspace === '' || row.workspace_id === filter.workspace) &&
    (filter.person === '' || (row.person ?? '') === filter.person) &&
    (filter.role === '' || row.config.agent_role === filter.role) &&
    (text === '' || [row.title, row.question?.text ?? '', row.workspace_name].some((part) => part.toLowerCase().includes(text)))
  );
}

export const isFiltered = ({ text, workspace, person, role }: Filter): boolean => text !== '' || workspace !== '' || person !== '' || role !== '';

/** Whether the chat can be put away: nothing is under way in it. */
export const isOver = (row: Row): boolean => row.group === 'to_review' || row.group === 'recent';
