// Chats of all workspaces: read once, and again when an event changes them.
import { useQuery, type QueryClient } from '@tanstack/react-query';
import { inboxApi } from '@/lib/api/inbox';
import type { EventType } from '@/lib/api/types';

const KEY = ['inbox'];
/** A busy agent sends many events; one read is enough for those that come together. */
const PAUSE = 400;
/** Whether an event can change a chat's group or row. */
const MOVES: Record<EventType, boolean> = {
  message_created: false,
  message_updated: false,
  message_deleted: false,
  text_delta: false,
  reasoning_delta: false,
  tool_call: false,
  tool_output: false,
  tool_result: false,
  state_changed: true,
  question_pending: true,
  question_resolved: true,
  mode_changed: true,
  intent_suggested: false,
  plan_updated: false,
  plan_step: true,
  usage: false,
  run_finished: true,
  violation: false,
  chat_updated: true,
  chat_created: true,
  chat_deleted: true,
  reset: false,
};

export const useInbox = () => useQuery({ queryKey: KEY, queryFn: inboxApi.inbox });
export const refreshInbox = (queries: QueryClient) => queries.invalidateQueries({ queryKey: KEY });

let timer: ReturnType<typeof setTimeout> | undefined;

export function noteForInbox(queries: QueryClient, events: { type: EventType }[]): void {
  if (timer !== undefined || !events.some(({ type }) => MOVES[type])) return;
  timer = setTimeout(() => {
    timer = undefined;
    void refreshInbox(queries);
  }, PAUSE);
}
