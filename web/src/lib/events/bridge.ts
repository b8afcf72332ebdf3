// Brings the events to the stores: those of open chats to their views, small ones of all chats to the lists.
import type { QueryClient } from '@tanstack/react-query';
import { reduceList } from '@/lib/chat/list';
import { noteForInbox, refreshInbox } from '@/lib/inbox';
import { keepView, releaseView } from '@/lib/chat/retention';
import { applyEvents, loadChat, setConnection, useChatStore } from '@/lib/chat/store';
import type { Chat } from '@/lib/api/types';
import { connect } from './connect';
import type { Link, SentEvent, ToHub, ToTab, Wanted } from './messages';

/** How long a break may last before it is shown, and before we call ourselves offline: a server that restarts is back before that. */
const SHOWN_AFTER = 300;
const OFFLINE_AFTER = 2_000;
/** A hidden tab draws nothing, so nothing is gained by taking each event at once. */
const HIDDEN_BATCH = 250;
/** What comes within this time after a drawing is drawn together: words in ten steps a second are read as a stream. */
const BATCH = 100;

let say: ((message: ToHub) => void) | null = null;
const open = new Map<string, string>();
let waiting: SentEvent[] = [];
/** Chats of which every event comes. Events of others have gaps between them, so they are for the lists only. */
const followed = new Set<string>();
/** What waits to be taken into views. */
let ofViews: SentEvent[] = [];
let isScheduled = false;
let drawnAt = -BATCH;
let timers: ReturnType<typeof setTimeout>[] = [];
let onSignedOut: () => void = () => undefined;
let queries: QueryClient;

/** Once, when the user is known. */
export function startBridge(client: QueryClient, signedOut: () => void): void {
  queries = client;
  onSignedOut = signedOut;
  if (say) return want();
  say = connect(hear);
  want();
  addEventListener('online', () => say?.({ kind: 'wake' }));
  addEventListener('pagehide', () => say?.({ kind: 'bye' }));
  addEventListener('pageshow', (event: PageTransitionEvent) => {
    if (!event.persisted) return;
    for (const chat of open.keys()) unfollow(chat);
    want();
  });
}

/** Loads the chat and follows it until the returned function is called. */
export function openChat(workspace: string, chat: string, failed: (reason: unknown) => void): () => void {
  open.set(chat, workspace);
  keepView(chat);
  load(workspace, chat).catch(failed);
  return () => {
    open.delete(chat);
    unfollow(chat);
    releaseView(chat);
  };
}

async function load(workspace: string, chat: string): Promise<void> {
  await loadChat(workspace, chat);
  // The stream may be further than the new view, and then has to repeat what lies between.
  unfollow(chat);
  want();
}

function unfollow(chat: string): void {
  followed.delete(chat);
  ofViews = ofViews.filter((event) => event.chat_id !== chat);
}

const listeners = new Set<(events: SentEvent[]) => void>();

/** Hands on the events of all chats until the returned function is called. */
export function onEvents(listener: (events: SentEvent[]) => void): () => void {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}

/** Tries to reach the server at once. */
export const reconnect = () => say?.({ kind: 'wake' });

function want(): void {
  const { views } = useChatStore.getState();
  const chats = [...open.keys()].flatMap((chat) => (views[chat] ? [{ chat, after: views[chat].seq }] : []));
  say?.({ kind: 'want', chats });
}

function hear(message: ToTab): void {
  switch (message.kind) {
    case 'events':
      waiting.push(...message.events);
      ofViews.push(...message.events.filter(({ chat_id }) => followed.has(chat_id)));
      return schedule();
    case 'following':
      return follow(message.chats);
    case 'lists_stale':
      void queries.invalidateQueries({ queryKey: ['chats'] });
      void refreshInbox(queries);
      return undefined;
    case 'signed_out':
      return onSignedOut();
    case 'link':
      return showLink(message.link);
  }
}

function follow(chats: Wanted[]): void {
  const { views } = useChatStore.getState();
  for (const { chat, after } of chats) {
    const view = views[chat];
    // A view that has less waits for a stream that begins where it ends.
    if (open.has(chat) && view && after <= view.seq) followed.add(chat);
  }
}

function schedule(): void {
  if (isScheduled) return;
  isScheduled = true;
  if (document.visibilityState === 'hidden') {
    setTimeout(flush, HIDDEN_BATCH);
    return;
  }
  const pause = drawnAt + BATCH - performance.now();
  if (pause > 0) setTimeout(() => requestAnimationFrame(flush), pause);
  else requestAnimationFrame(flush);
}

function flush(): void {
  isScheduled = false;
  drawnAt = performance.now();
  const events = waiting;
  const own = ofViews;
  waiting = [];
  ofViews = [];
  for (const chat of new Set(own.map((event) => event.chat_id))) {
    applyEvents(chat, own.filter((event) => event.chat_id === chat));
    const workspace = open.get(chat);
    if (workspace && useChatStore.getState().views[chat]?.missing === 'everything') void load(workspace, chat);
  }
  if (events.some(tellsOfServer)) for (const name of ['trust', 'servers']) void queries.invalidateQueries({ queryKey: [name] });
  for (const [key, chats] of queries.getQueriesData<Chat[]>({ queryKey: ['chats'] })) {
    const next = chats && events.reduce((list, event) => reduceList(list, event, String(key[1])), chats);
    // Lists are notified only of changes, not of deltas.
    if (next !== chats) queries.setQueryData<Chat[]>(key, next);
  }
  noteForInbox(queries, events);
  // After the lists: whoever listens looks chats up there, also those that began just now.
  for (const listener of listeners) listener(events);
}

/** What is known of MCP servers is old then. */
const tellsOfServer = (event: SentEvent) => event.type === 'message_created' && event.data.message.metadata.mcp_server !== undefined;

function showLink(link: Link): void {
  // Each attempt that fails says so again; the time counts from the first.
  if (link === 'broken' && timers.length > 0) return undefined;
  for (const timer of timers) clearTimeout(timer);
  timers = [];
  if (link !== 'broken') return setConnection(link);
  const later = (connection: 'reconnecting' | 'offline', after: number) => setTimeout(() => setConnection(connection), after);
  timers.push(later('reconnecting', SHOWN_AFTER), later('offline', OFFLINE_AFTER));
  return undefined;
}
