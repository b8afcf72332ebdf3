import { expect, test } from 'vitest';
import type { Message, MessageType } from '@/lib/api/types';
import { openThread, rowsOf } from './rows';

let next = 0;
const message = (message_type: MessageType, metadata: Message['metadata'] = {}): Message => ({
  id: `m${(next += 1)}`, chat_id: 'c', author: 'assistant', agent_role: 'planner', message_type, content: '', metadata, created_at: '',
});
const call = (call_id: string, category = 'read', tool = category) => message('tool_call', { call_id, category, tool });
const result = (call_id: string, success = true) => message('tool_result', { call_id, success });
const shape = (messages: Message[]) => rowsOf(messages).map((row) => (row.kind === 'burst' ? `burst ${row.calls.length}` : row.kind));

test('a result is shown with its call', () => {
  const rows = rowsOf([call('a', 'write'), result('a')]);
  expect(rows).toHaveLength(1);
  expect(rows[0]).toMatchObject({ kind: 'call', result: { metadata: { call_id: 'a' } } });
});

test('consecutive reads, searches and writes fold into one burst', () => {
  expect(shape([call('a'), call('b'), result('a'), result('b'), call('c', 'search'), result('c'), message('text')])).toEqual(['burst 3', 'message']);
  expect(shape([call('a'), result('a'), call('b', 'write'), result('b'), call('c', 'write', 'edit'), result('c')])).toEqual(['burst 3']);
});

test('a call that failed, was blocked or waits, a command, a deletion and a tool of a server keep their own line', () => {
  expect(shape([call('a'), result('a'), call('b'), result('b', false), call('c'), call('d', 'write'), result('d', false)])).toEqual(['call', 'call', 'call', 'call']);
  expect(shape([call('a'), result('a'), call('b', 'execute', 'run'), result('b'), call('c', 'write', 'rm'), result('c'), call('d', 'write', 'github__close'), result('d'), call('e', 'other', 'ask_user'), result('e')])).toEqual(['call', 'call', 'call', 'call', 'call']);
});

test('a running read joins the burst, one that waits does not', () => {
  const running = (call_id: string) => message('tool_call', { call_id, category: 'read', tool: 'read', status: 'running' });
  expect(shape([call('a'), result('a'), running('b')])).toEqual(['burst 2']);
  expect(shape([call('a'), result('a'), message('tool_call', { call_id: 'b', category: 'read', tool: 'read', status: 'proposed' })])).toEqual(['call', 'call']);
});

test('calls of another role are another burst', () => {
  const other = { ...call('b'), agent_role: 'tester' as const };
  expect(shape([call('a'), result('a'), other, result('b')])).toEqual(['call', 'call']);
});

test('a step that begins opens a group for its calls, and its end is shown there', () => {
  const report = (call_id: string, step_number: number, status: string) => message('tool_call', { call_id, tool: 'update_step', args: { step_number, status } });
  const rows = rowsOf([report('a', 1, 'in_progress'), result('a'), call('w', 'write'), result('w'), report('b', 1, 'done'), result('b'), report('c', 2, 'in_progress'), result('c'), report('d', 2, 'done'), result('d', false)]);
  expect(rows.map((row) => (row.kind === 'step' ? `step ${row.step}, ${row.calls.length}` : row.kind))).toEqual(['step 1, 2', 'call', 'step 2, 1', 'call']);
});

test('words between reads part them', () => {
  expect(shape([call('a'), result('a'), message('text'), call('b'), result('b')])).toEqual(['call', 'message', 'call']);
});

test('a result whose call is on an older page is shown by itself', () => {
  expect(shape([result('gone'), message('text')])).toEqual(['message', 'message']);
});

const inThread = (message: Message): Message => ({ ...message, agent_role: 'tester', metadata: { ...message.metadata, delegation: 'd' } });
const task = (): Message => inThread({ ...message('text', { task: true }), author: 'system', content: 'Try it' });

test('what is done for a task stands with the call that handed it on, and what comes after it below', () => {
  const rows = rowsOf([message('text'), call('d', 'other'), task(), inThread(call('a', 'write')), inThread(result('a')), inThread(message('text')), result('d'), message('text')]);
  expect(rows.map((row) => row.kind)).toEqual(['message', 'thread', 'message']);
  expect(rows[1]).toMatchObject({ task: 'Try it', role: 'tester', call: { metadata: { call_id: 'd' } }, result: { metadata: { call_id: 'd' } }, rows: [{ kind: 'call' }, { kind: 'message' }] });
  expect(openThread(rows)).toBeNull();
});

test('a task that is worked on is open, and one whose call is on an older page stands where it begins', () => {
  expect(openThread(rowsOf([call('d', 'other'), task()]))).toMatchObject({ kind: 'thread', result: null });
  const loose = rowsOf([inThread(message('text')), inThread(message('text')), result('d'), message('text')]);
  expect(loose.map((row) => row.kind)).toEqual(['thread', 'message', 'message']);
  expect(loose[0]).toMatchObject({ call: null, rows: [{ kind: 'message' }, { kind: 'message' }] });
});

test('each helper of an explore call has a thread of its own, which runs until the call is over', () => {
  const id = '0193a5f0-1c2d-7e3f-8a4b-5c6d7e8f9a0f';
  const helper = (number: number) => (one: Message): Message => ({ ...one, metadata: { ...one.metadata, delegation: `0193a5f0-1c2d-8e3f-8a4b-5c6d7e8f9a0${(8 + number).toString(16)}` } });
  const begin = (number: number) => helper(number)({ ...message('text', { task: true }), author: 'system', content: `Find ${number}` });
  const messages = [message('text'), call(id, 'search', 'explore'), begin(0), begin(1), helper(1)(message('text')), helper(0)(message('text'))];
  const running = rowsOf(messages);
  expect(running.map((row) => row.kind)).toEqual(['message', 'call', 'thread', 'thread']);
  expect(running[2]).toMatchObject({ task: 'Find 0', call: null, helper: 'running', rows: [{ kind: 'message' }] });
  expect(openThread(running)).toBeNull();
  const over = rowsOf([...messages, result(id), message('text')]);
  expect(over.map((row) => row.kind)).toEqual(['message', 'call', 'thread', 'thread', 'message']);
  expect(over[3]).toMatchObject({ task: 'Find 1', helper: 'over' });
});
