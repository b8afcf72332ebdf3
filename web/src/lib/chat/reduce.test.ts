import { expect, test } from 'vitest';
import type { ChatEvent, Message, Snapshot } from '@/lib/api/types';
import { fromSnapshot, mayGoOn, reduce, withOlder } from './reduce';
import { isBusy } from './view';

const message = (id: string, content = ''): Message => ({
  id, chat_id: 'c', author: 'assistant', agent_role: 'planner', message_type: 'text', content, metadata: {}, created_at: '2026-01-01T00:00:00Z',
});
const snapshot = (change: Partial<Snapshot> = {}): Snapshot => ({
  chat: {
    id: 'c', workspace_id: 'w', title: 'A chat', config: { agent_role: 'planner', agent_mode: 'plan', mode: 'plan', plan_file: null }, state: 'idle',
    pending_question: null, usage: { input_tokens: 0, output_tokens: 0, cached_tokens: 0, cost: 0, context_tokens: 0 }, progress: null,
    pinned: false,
    archived: false,
    person: null, model: null, effort: null,
    created_at: '2026-01-01T00:00:00Z', updated_at: '2026-01-01T00:00:00Z',
  },
  messages: [], pending_question: null, partial: null, printed: {}, last_run: null, queued: [], last_event_id: 10, ...change,
});
const event = (seq: number, type: ChatEvent['type'], data: unknown) => ({ type, data, seq, at: '2026-01-01T00:00:01Z' }) as ChatEvent;
const play = (events: ChatEvent[], start = fromSnapshot(snapshot())) => events.reduce(reduce, start);
const delta = (seq: number, offset: number, text: string) => event(seq, 'text_delta', { message_id: 'm', offset, text });

test('an answer grows with its deltas and becomes a message', () => {
  const growing = play([delta(11, 0, 'Hel'), delta(12, 3, 'lo')]);
  expect(growing.live.m?.text).toBe('Hello');
  const done = play([event(13, 'message_created', { message: message('m', 'Hello') })], growing);
  expect(done.live).toEqual({});
  expect(done.messages.map((one) => one.content)).toEqual(['Hello']);
});

test('a delta heard twice, or in part before, adds only what is new', () => {
  const view = play([delta(11, 0, '你好'), delta(11, 0, '你好'), delta(12, 0, '你好😀 there'), delta(13, 3, ' there!')]);
  expect(view.live.m?.text).toBe('你好😀 there!');
});

test('a delta after a gap asks for everything anew', () => {
  expect(play([delta(11, 0, 'ab'), delta(14, 9, 'z')]).missing).toBe('everything');
});

test('an echo of a message that is stored changes nothing', () => {
  const view = play([event(11, 'message_created', { message: message('m', 'Hello') })]);
  expect(reduce(view, delta(11, 0, 'Hello'))).toBe(view);
});

test('an event that was in the snapshot changes nothing', () => {
  const view = fromSnapshot(snapshot());
  expect(reduce(view, event(10, 'state_changed', { state: 'thinking' }))).toBe(view);
});

test('a stream that is cut at any place and resumed ends in the same view', () => {
  const events = [
    event(11, 'state_changed', { state: 'thinking' }), delta(12, 0, 'One '), delta(13, 4, 'two'),
    event(14, 'message_created', { message: message('m', 'One two') }),
    event(15, 'question_pending', { question_id: 'q', questions: [], kind: 'user', severity: 'major', created_at: '' }),
    event(16, 'question_resolved', { question_id: 'q', outcome: 'answered' }),
    event(17, 'mode_changed', { agent_role: 'actor', agent_mode: 'act', mode: 'build', plan_file: '/plans/x.plan', by: 'approval' }),
    event(18, 'run_finished', { outcome: 'done' }), event(19, 'state_changed', { state: 'idle' }),
  ];
  const whole = play(events);
  for (let cut = 0; cut <= events.length; cut += 1) {
    const resumed = play(events.slice(Math.max(0, cut - 2)), play(events.slice(0, cut)));
    expect(resumed).toEqual(whole);
  }
});

test('a question goes when it is resolved, and only that one', () => {
  const pending = play([event(11, 'question_pending', { question_id: 'q2', questions: [], kind: 'user', severity: 'minor', created_at: '' })]);
  expect(play([event(12, 'question_resolved', { question_id: 'q1', outcome: 'superseded' })], pending).question?.question_id).toBe('q2');
  expect(play([event(12, 'question_resolved', { question_id: 'q2', outcome: 'stopped' })], pending).question).toBeNull();
});

test('the mode is what the server says, and progress is then asked for', () => {
  const view = play([event(11, 'mode_changed', { agent_role: 'actor', agent_mode: 'act', mode: 'build', plan_file: null, by: 'user' })]);
  expect(view.chat.config).toEqual({ agent_role: 'actor', agent_mode: 'act', mode: 'build', plan_file: null });
  expect(view.missing).toBe('progress');
});

test('a step moves in the progress and is counted', () => {
  const start = snapshot();
  start.chat.progress = { plan_file: 'p', done: 0, skipped: 0, total: 2, chosen_steps: null, stop_after: null, steps: [1, 2].map((step_number) => ({ step_number, action: '', status: 'pending' })) };
  const view = play([event(11, 'plan_step', { step_number: 2, status: 'done' })], fromSnapshot(start));
  expect(view.chat.progress).toMatchObject({ done: 1, steps: [{ status: 'pending' }, { status: 'done' }] });
});

test('older messages go in front, none twice', () => {
  const view = withOlder(fromSnapshot(snapshot({ messages: [message('b'), message('c')] })), [message('a'), message('b')], false);
  expect(view.messages.map((one) => one.id)).toEqual(['a', 'b', 'c']);
});

test('a page that is full, or short because it is long, may have more before it', () => {
  expect(mayGoOn([message('a')], 50)).toBe(false);
  expect(mayGoOn([message('a'), message('b')], 2)).toBe(true);
  expect(mayGoOn([message('a', 'x'.repeat(1_500_000))], 50)).toBe(true);
});

test('output of a command is kept while it runs and goes with the run', () => {
  const view = play([event(11, 'tool_output', { call_id: 'k', text: 'a' }), event(12, 'tool_output', { call_id: 'k', text: 'b' })]);
  expect(view.outputs.k).toBe('ab');
  expect(play([event(13, 'run_finished', { outcome: 'stopped' })], view).outputs).toEqual({});
});

test('what had come of an answer goes when the next one begins, as after the death of the server', () => {
  const cut = play([delta(11, 0, 'Half an ans')]);
  const next = play([event(12, 'text_delta', { message_id: 'n', offset: 0, text: 'Anew' })], cut);
  expect(Object.keys(next.live)).toEqual(['n']);
  expect(play([event(12, 'message_created', { message: message('n', 'Anew') })], cut).live).toEqual({});
  expect(Object.keys(play([event(12, 'message_created', { message: { ...message('u'), author: 'user' } })], cut).live)).toEqual(['m']);
});

test('what a running command had printed is there after a reload, and goes on', () => {
  const loaded = fromSnapshot(snapshot({ printed: { k: 'a' } }));
  expect(play([event(11, 'tool_output', { call_id: 'k', text: 'b' })], loaded).outputs.k).toBe('ab');
});

test('waiting for an answer is not being busy', () => {
  expect(isBusy(play([event(11, 'state_changed', { state: 'awaiting_answer' })]))).toBe(false);
  expect(isBusy(play([event(11, 'state_changed', { state: 'exploring' })]))).toBe(true);
});

test('what replies used is added up; how full the context is, is what the newest one says', () => {
  const used = { input_tokens: 10, output_tokens: 2, cached_tokens: 4, cost: 0.5, context_tokens: 12 };
  const view = play([event(11, 'usage', used), event(12, 'usage', { ...used, context_tokens: 30 }), event(12, 'usage', used)]);
  expect(view.chat.usage).toEqual({ input_tokens: 20, output_tokens: 4, cached_tokens: 8, cost: 1, context_tokens: 30 });
});

test('what the model thought stays with its message, or with the first call of a reply without words', () => {
  const thought = (id: string, text: string) => event(11, 'reasoning_delta', { message_id: id, offset: 0, text });
  const said = play([thought('m', 'Hm.'), event(12, 'message_created', { message: message('m', 'Hello') })]);
  expect(said.reasoning).toEqual({ m: 'Hm.' });
  const call = { ...message('call'), message_type: 'tool_call' as const };
  const called = play([thought('n', 'A call.'), event(13, 'message_created', { message: call }), event(14, 'message_created', { message: { ...call, id: 'second' } })], said);
  expect(called.reasoning).toEqual({ m: 'Hm.', call: 'A call.' });
});
