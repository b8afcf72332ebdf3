// A chat is opened while it is worked on: whenever its snapshot is taken, arrives and is followed, the view ends as if all events had been heard.
import { QueryClient } from '@tanstack/react-query';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { ChatEvent, Message, Snapshot } from '@/lib/api/types';
import { fromSnapshot, reduce } from '@/lib/chat/reduce';
import type { ToHub, ToTab } from './messages';

const { server } = vi.hoisted(() => ({ server: { snapshot: (): Promise<unknown> => Promise.reject(new Error('not set')), hear: (_: unknown) => undefined as void, port: (_: unknown) => undefined as void } }));
vi.mock('@/lib/api/client', () => ({ api: { snapshot: () => server.snapshot() }, ApiError: class extends Error {} }));
vi.mock('./connect', () => ({
  connect: (hear: (message: unknown) => void) => {
    server.hear = hear;
    return (message: unknown) => server.port(message);
  },
}));

const message = (id: string, author: Message['author'], content: string): Message => ({ id, chat_id: 'c', author, agent_role: 'planner', message_type: 'text', content, metadata: {}, created_at: '2026-01-01T00:00:00Z' });
const event = (seq: number, type: ChatEvent['type'], data: unknown) => ({ type, data, seq, at: '2026-01-01T00:00:01Z', chat_id: 'c' }) as ChatEvent & { chat_id: string };
const LOG = [
  event(1, 'message_created', { message: message('u', 'user', 'Hello') }),
  event(2, 'state_changed', { state: 'thinking' }),
  event(3, 'text_delta', { message_id: 'm', offset: 0, text: 'Good ' }),
  event(5, 'text_delta', { message_id: 'm', offset: 5, text: 'day' }),
  event(6, 'message_created', { message: message('m', 'assistant', 'Good day') }),
  event(8, 'run_finished', { outcome: 'done' }),
  event(9, 'state_changed', { state: 'idle' }),
];
const EMPTY: Snapshot = {
  chat: { id: 'c', workspace_id: 'w', title: 'A chat', config: { agent_role: 'planner', agent_mode: 'plan', mode: 'plan', plan_file: null }, state: 'idle', pending_question: null, usage: { input_tokens: 0, output_tokens: 0, cached_tokens: 0, cost: 0, context_tokens: 0 }, progress: null, pinned: false, archived: false, person: null, model: null, effort: null, created_at: '2026-01-01T00:00:00Z', updated_at: '2026-01-01T00:00:00Z' },
  messages: [], pending_question: null, partial: null, printed: {}, last_run: null, queued: [], last_event_id: 0,
};
const isDelta = ({ type }: ChatEvent) => type === 'text_delta';
const told = (upTo: number) => LOG.slice(0, upTo).reduce<ReturnType<typeof fromSnapshot>>(reduce, fromSnapshot(EMPTY));

/** What the server answers after so many events; what is being written is in it. */
function snapshotAfter(upTo: number): Snapshot {
  const { chat, messages, live, lastRun } = told(upTo);
  const [partial] = Object.values(live);
  return { ...EMPTY, chat, messages, last_event_id: LOG[upTo - 1]?.seq ?? 0, partial: partial ? { message_id: partial.messageId, text: partial.text, agent_role: 'planner' } : null, last_run: lastRun && { outcome: lastRun.outcome } };
}

/** The server with one stream: small events of all chats, every event of those that are wanted, from where the tab ends. */
class Stream {
  private sent = 0;
  private wants: ToHub[] = [];
  private isWhole = false;

  hear = (wanted: ToHub) => void this.wants.push(wanted);

  happen(): void {
    const next = LOG[this.sent];
    this.sent += 1;
    if (next && (this.isWhole || !isDelta(next))) this.send({ kind: 'events', events: [next] });
  }

  /** Opens the stream that the tab has asked for. */
  reopen(): void {
    const wanted = this.wants.findLast((one) => one.kind === 'want' && one.chats.length > 0);
    if (wanted?.kind !== 'want') return;
    this.isWhole = true;
    const after = wanted.chats[0]?.after ?? 0;
    this.send({ kind: 'following', chats: [{ chat: 'c', after }] });
    this.send({ kind: 'events', events: LOG.slice(0, this.sent).filter((one) => one.seq > after) });
  }

  private send = (message: ToTab) => server.hear(message);
}

// Other files of the same worker have loaded these modules without the mocks.
beforeAll(() => {
  vi.resetModules();
  vi.useFakeTimers();
});
afterAll(() => { vi.useRealTimers(); });

/** Draws what was heard, as a frame of the browser does. */
const frame = () => vi.advanceTimersByTimeAsync(400);

const moments = LOG.flatMap((_, taken) => LOG.flatMap((_one, arrived) => LOG.map((_two, opened) => ({ taken, arrived: arrived + 1, opened: opened + 1 })))).filter(({ taken, arrived, opened }) => taken <= arrived && arrived <= opened);
test.each(['at once', 'only at the end'])('a chat that is opened at any moment of a run ends as it is, drawn %s', async (drawn) => {
  const [{ openChat, startBridge }, { useChatStore }] = await Promise.all([import('./bridge'), import('@/lib/chat/store')]);
  for (const { taken, arrived, opened } of moments) {
    useChatStore.setState({ views: {} });
    const stream = new Stream();
    server.port = (said) => stream.hear(said as ToHub);
    startBridge(new QueryClient(), () => undefined);
    let arrive: (snapshot: Snapshot) => void = () => undefined;
    server.snapshot = () => new Promise((resolve) => { arrive = resolve; });
    const close = openChat('w', 'c', () => undefined);
    for (let count = 0; count <= LOG.length; count += 1) {
      if (count === arrived) {
        arrive(snapshotAfter(taken));
        await vi.advanceTimersByTimeAsync(0);
      }
      if (count === opened) stream.reopen();
      if (drawn === 'at once') await frame();
      if (count < LOG.length) stream.happen();
    }
    await frame();
    const view = useChatStore.getState().views.c;
    const whole = told(LOG.length);
    expect({ taken, arrived, opened, messages: view?.messages, live: view?.live, state: view?.chat.state }).toEqual({ taken, arrived, opened, messages: whole.messages, live: {}, state: 'idle' });
    close();
  }
});
