// Chats of all workspaces: read once, and again when an event changes them.
import { useQuery, type QueryClient } from '@tanstack/react-query';
import { inboxApi } from '@/lib/api/inbox';
import type { EventType } from '@/lib/api/types';

const KEY = ['inbox'];
/** A busy agent sends many events; one read is enough for those that come together. */
const PAUSE = 400;
/** Events that can change a chat's group or row. */
const MOVES = new Set<EventType>(['state_changed', 'question_pending', 'question_resolved', 'run_finished', 'plan_step', 'mode_changed', 'chat_created', 'chat_updated', 'chat_deleted']);

export const useInbox = () => useQuery({ queryKey: KEY, queryFn: inboxApi.inbox });
export const refreshInbox = (queries: QueryClient) => queries.invalidateQueries({ queryKey: KEY });

let timer: ReturnType<typeof setTimeout> | undefined;

export function noteForInbox(queries: QueryClient, events: { type: EventType }[]): void {
  if (timer !== undefined || !events.some(({ type }) => MOVES.has(type))) return;
  timer = setTimeout(() => {
    timer = undefined;
    void refreshInbox(queries);
  }, PAUSE);
}
