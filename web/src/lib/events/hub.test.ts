import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Hub, type Tab } from './hub';
import type { ToTab } from './messages';
import { FrameReader } from './sse';

/** A server whose streams the test writes to and breaks. */
class Server {
  requests: { url: string; cursor: string | null; write: (text: string) => void; end: () => void }[] = [];
  status = 200;
  isDown = false;

  open = (url: string, init: RequestInit): Promise<Response> => {
    if (this.isDown) return Promise.reject(new TypeError('down'));
    const body = new TransformStream<Uint8Array, Uint8Array>();
    const writer = body.writable.getWriter();
    init.signal?.addEventListener('abort', () => void writer.abort().catch(() => undefined));
    const cursor = new Headers(init.headers).get('last-event-id');
    this.requests.push({ url, cursor, write: (text) => void writer.write(new TextEncoder().encode(text)), end: () => void writer.close() });
    return Promise.resolve(new Response(body.readable, { status: this.status }));
  };
  get last() {
    const request = this.requests.at(-1);
    if (!request) throw new Error('nothing was asked for');
    return request;
  }
}

const block = (id: string, chat: string, seq: number) => `id: ${id}\nevent: state_changed\ndata: {"type":"state_changed","data":{"state":"idle"},"seq":${seq},"chat_id":"${chat}"}\n\n`;
const listener = () => {
  const heard: ToTab[] = [];
  const tab: Tab = (message) => heard.push(message);
  const events = () => heard.flatMap((message) => (message.kind === 'events' ? message.events.map((event) => `${event.chat_id}:${event.seq}`) : []));
  const links = () => heard.flatMap((message) => (message.kind === 'link' ? [message.link] : []));
  return { tab, heard, events, links };
};
const settle = () => vi.advanceTimersByTimeAsync(20);

beforeEach(() => { vi.useFakeTimers(); });
afterEach(() => { vi.useRealTimers(); });

test('twelve tabs share one stream and all hear it', async () => {
  const server = new Server();
  const hub = new Hub(server.open);
  const tabs = Array.from({ length: 12 }, listener);
  for (const { tab } of tabs) hub.hear(tab, { kind: 'want', chats: [{ chat: 'a', after: 5 }] });
  await settle();
  expect(server.requests).toHaveLength(1);
  expect(server.last.url).toBe('/api/v1/events?chats=a@5');
  server.last.write(block('e.1;a=6', 'a', 6));
  await settle();
  for (const { events } of tabs) expect(events()).toEqual(['a:6']);
});

test('after a break it goes on where it was, and says how it is connected', async () => {
  const server = new Server();
  const hub = new Hub(server.open);
  const one = listener();
  hub.hear(one.tab, { kind: 'want', chats: [{ chat: 'a', after: 5 }] });
  await settle();
  server.last.write(block('e.7;a=6', 'a', 6));
  await settle();
  server.last.end();
  await vi.advanceTimersByTimeAsync(600);
  expect(server.last).toMatchObject({ url: '/api/v1/events?chats=a@6', cursor: 'e.7' });
  expect(one.links()).toEqual(['connecting', 'live', 'broken', 'live']);
});

test('a stream without any sign of life is given up', async () => {
  const server = new Server();
  const hub = new Hub(server.open);
  const one = listener();
  hub.hear(one.tab, { kind: 'want', chats: [] });
  await settle();
  for (let beat = 0; beat < 5; beat += 1) {
    server.last.write(':\n\n');
    await vi.advanceTimersByTimeAsync(10_000);
  }
  expect(server.requests).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(40_000);
  expect(server.requests.length).toBeGreaterThan(1);
});

test('a tab that knows less than the others hears again what it lacks', async () => {
  const server = new Server();
  const hub = new Hub(server.open);
  const [first, second] = [listener(), listener()];
  hub.hear(first.tab, { kind: 'want', chats: [{ chat: 'a', after: 5 }] });
  await settle();
  server.last.write(block('e.1', 'a', 9));
  await settle();
  hub.hear(second.tab, { kind: 'want', chats: [{ chat: 'a', after: 7 }] });
  await settle();
  expect(server.last.url).toBe('/api/v1/events?chats=a@7');
});

test('a chat that no tab wants is no longer asked for', async () => {
  const server = new Server();
  const hub = new Hub(server.open);
  const [first, second] = [listener(), listener()];
  hub.hear(first.tab, { kind: 'want', chats: [{ chat: 'a', after: 1 }] });
  hub.hear(second.tab, { kind: 'want', chats: [{ chat: 'b', after: 2 }] });
  await settle();
  hub.hear(first.tab, { kind: 'want', chats: [{ chat: 'c', after: 3 }] });
  await settle();
  expect(server.last.url).toBe('/api/v1/events?chats=b@2,c@3');
});

test('events of no chat tell that the lists are stale; a refused token signs out', async () => {
  const server = new Server();
  const hub = new Hub(server.open);
  const one = listener();
  hub.hear(one.tab, { kind: 'want', chats: [] });
  await settle();
  server.last.write('event: reset\ndata: {"type":"reset","data":{}}\n\n');
  await settle();
  expect(one.heard.some((message) => message.kind === 'lists_stale')).toBe(true);
  server.status = 401;
  server.last.end();
  await vi.advanceTimersByTimeAsync(600);
  const asked = server.requests.length;
  await vi.advanceTimersByTimeAsync(5000);
  expect(one.heard.at(-1)).toEqual({ kind: 'signed_out' });
  expect(server.requests).toHaveLength(asked);
});

test('waking up tries at once; when the last tab goes, so does the stream', async () => {
  const server = new Server();
  const hub = new Hub(server.open);
  const one = listener();
  server.isDown = true;
  hub.hear(one.tab, { kind: 'want', chats: [] });
  await settle();
  server.isDown = false;
  hub.hear(one.tab, { kind: 'wake' });
  await settle();
  expect(server.requests).toHaveLength(1);
  hub.hear(one.tab, { kind: 'bye' });
  await vi.advanceTimersByTimeAsync(5000);
  expect(server.requests).toHaveLength(1);
});

test('frames are cut wherever the network cuts them', () => {
  const text = ': hello\n\nretry: 500\nid: 1\n\nid: 2\nevent: x\ndata: {"a":1}\n\ndata: one\ndata: two\n\n';
  for (let cut = 0; cut <= text.length; cut += 1) {
    const reader = new FrameReader();
    const frames = [...reader.take(text.slice(0, cut)), ...reader.take(text.slice(cut))];
    expect(frames).toEqual([{ id: '1', data: null }, { id: '2', data: '{"a":1}' }, { id: null, data: 'one\ntwo' }]);
  }
});
