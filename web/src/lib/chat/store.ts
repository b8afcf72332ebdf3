// The views of the chats that are open, and how we are connected.
import { create } from 'zustand';
import { api } from '@/lib/api/client';
import type { ChatEvent } from '@/lib/api/types';
import { fromSnapshot, mayGoOn, reduce, withOlder } from './reduce';
import type { ChatView } from './view';

type Connection = 'connecting' | 'live' | 'reconnecting' | 'offline';

interface ChatStore {
  views: Record<string, ChatView>;
  connection: Connection;
}

export const useChatStore = create<ChatStore>(() => ({ views: {}, connection: 'connecting' }));

const PAGE = 50;
const set = (chat: string, change: (view: ChatView) => ChatView) =>
  useChatStore.setState((state) => {
    const view = state.views[chat];
    if (!view) return state;
    const next = change(view);
    return next === view ? state : { views: { ...state.views, [chat]: next } };
  });

/** Fetches the current chat, and returns the event after which to follow it. */
export async function loadChat(workspace: string, chat: string): Promise<number> {
  const view = fromSnapshot(await api.snapshot(workspace, chat));
  useChatStore.setState((state) => ({ views: { ...state.views, [chat]: { ...view, reasoning: state.views[chat]?.reasoning ?? {} } } }));
  return view.seq;
}

/** Applies all received events at once, so that one frame draws them. */
export function applyEvents(chat: string, events: ChatEvent[]): void {
  set(chat, (view) => events.reduce(reduce, view));
  const view = useChatStore.getState().views[chat];
  if (view?.missing === 'progress') void fetchProgress(view.chat.workspace_id, chat);
}

async function fetchProgress(workspace: string, chat: string): Promise<void> {
  set(chat, (view) => ({ ...view, missing: 'nothing' }));
  const { chat: fresh } = await api.snapshot(workspace, chat);
  set(chat, (view) => ({ ...view, chat: { ...view.chat, progress: fresh.progress } }));
}

export async function loadOlder(workspace: string, chat: string): Promise<void> {
  const oldest = useChatStore.getState().views[chat]?.messages[0];
  if (!oldest) return;
  const page = await api.messages(workspace, chat, oldest.id, PAGE);
  set(chat, (view) => withOlder(view, page.toReversed(), mayGoOn(page, PAGE)));
}

export const setConnection = (connection: Connection) => useChatStore.setState({ connection });
