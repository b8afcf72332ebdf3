// The history as the rows that are shown: a call together with its result, consecutive quiet calls as one burst, a
// delegated task with everything said and done for it.
import type { Message, RoleName } from '@/lib/api/types';
import { looksOf } from './tools';

export interface Call {
  call: Message;
  result: Message | null;
}

/** A delegate's messages and calls. `call` delegated the task; null while its page is not loaded. */
export interface Thread {
  call: Message | null;
  result: Message | null;
  task: string;
  role: RoleName | null;
  rows: Row[];
  /** Of a helper that reads for an `explore` call, which has a row of its own; null for a delegate. */
  helper: 'running' | 'over' | null;
}

export type Row =
  | { kind: 'message'; key: string; message: Message }
  | ({ kind: 'call'; key: string } & Call)
  | { kind: 'burst'; key: string; calls: Call[] }
  /** Opens a step of the plan; `calls` are those that reported it. */
  | { kind: 'step'; key: string; step: number; calls: Call[] }
  | ({ kind: 'thread'; key: string } & Thread);

export function rowsOf(messages: Message[]): Row[] {
  const own = messages.filter((one) => threadOf(one) === undefined);
  const threads = threadsIn(messages);
  const calls = new Set(own.filter((one) => one.message_type === 'tool_call').map((one) => one.metadata.call_id));
  // Messages of a call that is not loaded appear where they begin.
  const loose = new Map([...threads].filter(([id]) => !calls.has(id)).flatMap(([id, all]) => (all[0] ? [[all[0], id]] as const : [])));
  const listed = loose.size === 0 ? own : messages.filter((one) => threadOf(one) === undefined || loose.has(one));
  const over = new Set(messages.filter((one) => one.message_type === 'tool_result').map((one) => familyOf(one.metadata.call_id)));
  return flatRows(
    listed,
    (message) => {
      const id = loose.get(message) ?? (message.message_type === 'tool_call' ? message.metadata.call_id : undefined);
      return id === undefined ? undefined : threads.get(id);
    },
    (thread) => (isHelper(thread) ? (over.has(familyOf(thread)) ? 'over' : 'running') : null),
  );
}

/** Helpers' conversations are named by a UUID of version 8 that follows from the id of their call. */
const isHelper = (thread: unknown): boolean => typeof thread === 'string' && thread[14] === '8';

/** The same for a call and for its helpers. */
function familyOf(id: unknown): string {
  const text = String(id);
  return `${text.slice(0, 14)}8${text.slice(15, -1)}${(Number.parseInt(text.slice(-1), 16) & 8).toString(16)}`;
}

const threadOf = (message: Message): unknown => message.metadata.delegation ?? undefined;

/** By the delegating call. */
function threadsIn(messages: Message[]): Map<unknown, Message[]> {
  const threads = new Map<unknown, Message[]>();
  for (const message of messages) {
    const id = threadOf(message);
    if (id === undefined) continue;
    const known = threads.get(id);
    if (known) known.push(message);
    else threads.set(id, [message]);
  }
  return threads;
}

/** Rows of one conversation; `threadAt` returns the thread of the task that a message delegated. */
function flatRows(messages: Message[], threadAt: (message: Message) => Message[] | undefined, helperOf: (thread: unknown) => Thread['helper'] = () => null): Row[] {
  const results = new Map(messages.filter((one) => one.message_type === 'tool_result').map((one) => [one.metadata.call_id, one]));
  const called = new Set(messages.filter((one) => one.message_type === 'tool_call').map((one) => one.metadata.call_id));
  const questions = new Set(messages.filter((one) => one.message_type === 'question').map((one) => one.metadata.question_id));
  const rows: Row[] = [];
  for (const message of messages) {
    if (message.message_type === 'tool_result' && called.has(message.metadata.call_id)) continue;
    // The question's card already shows the answer.
    if (questions.has(answeredIn(message))) continue;
    const said = threadAt(message);
    if (said) {
      rows.push(threadRow(message, said, results.get(message.metadata.call_id) ?? null, helperOf(threadOf(message))));
      continue;
    }
    if (message.message_type !== 'tool_call') {
      rows.push({ kind: 'message', key: message.id, message });
      continue;
    }
    const one: Call = { call: message, result: results.get(message.metadata.call_id) ?? null };
    const step = reportedStep(one);
    if (step !== null) {
      const opened = openedStep(rows, step);
      if (opened) opened.calls.push(one);
      else rows.push({ kind: 'step', key: message.id, step, calls: [one] });
      continue;
    }
    const last = rows.at(-1);
    if (isQuiet(one) && last?.kind === 'burst' && isSameAgent(last.calls[0], one)) last.calls.push(one);
    else if (isQuiet(one) && last?.kind === 'call' && isQuiet(last) && isSameAgent(last, one)) {
      rows[rows.length - 1] = { kind: 'burst', key: last.key, calls: [{ call: last.call, result: last.result }, one] };
    } else rows.push({ kind: 'call', key: message.id, ...one });
  }
  return rows;
}

/** The question that a message answers. */
function answeredIn({ metadata }: Message): unknown {
  return (metadata.question_answer as { question_id?: unknown } | undefined)?.question_id ?? null;
}

function threadRow(first: Message, said: Message[], result: Message | null, helper: Thread['helper']): Row {
  const call = threadOf(first) === undefined ? first : null;
  const begin = said.find((one) => one.metadata.task === true);
  const role = begin?.agent_role ?? said.find((one) => one.agent_role)?.agent_role ?? null;
  // The task is the heading; as a message it would appear twice.
  const rows = flatRows(said.filter((one) => one !== begin), () => undefined);
  return { kind: 'thread', key: first.id, call, result: call && result, task: begin?.content ?? '', role, rows, helper };
}

/** The messages that a row shows. */
export function messagesOf(row: Row): Message[] {
  switch (row.kind) {
    case 'message':
      return [row.message];
    case 'call':
      return row.result ? [row.call, row.result] : [row.call];
    case 'burst':
    case 'step':
      return row.calls.flatMap(({ call, result }) => (result ? [call, result] : [call]));
    case 'thread':
      return [...(row.call ? [row.call] : []), ...row.rows.flatMap(messagesOf), ...(row.result ? [row.result] : [])];
  }
}

/** The task in progress, if any. */
export function openThread(rows: Row[]): (Row & { kind: 'thread' }) | null {
  const last = rows.findLast((row) => row.kind === 'thread');
  return last?.kind === 'thread' && last.call && !last.result ? last : null;
}

const LOOKS = new Set<unknown>(['read', 'search']);

/** The heading of a step, unless another plan or mode began since. */
function openedStep(rows: Row[], step: number): (Row & { kind: 'step' }) | null {
  const found = rows.findLast((row) => (row.kind === 'step' && row.step === step) || (row.kind === 'message' && (row.message.message_type === 'plan' || row.message.metadata.mode_change !== undefined)));
  return found?.kind === 'step' ? found : null;
}

/** The step that a call has reported; null for other calls, and for one that was refused. */
function reportedStep({ call: { metadata }, result }: Call): number | null {
  const { step_number } = (metadata.args ?? {}) as { step_number?: unknown };
  return metadata.tool === 'update_step' && result?.metadata.success === true && typeof step_number === 'number' ? step_number : null;
}

/** Needs no line of its own: it succeeded, or it is a running read. */
function isQuiet({ call: { metadata }, result }: Call): boolean {
  const { line } = looksOf(metadata.tool);
  const isLook = LOOKS.has(metadata.category) && line !== 'own';
  if (!result) return isLook && metadata.status === 'running';
  return (isLook || line === 'shared') && result.metadata.success === true;
}

function isSameAgent(a: Call | undefined, b: Call): boolean {
  return a?.call.agent_role === b.call.agent_role && a.call.metadata.delegation === b.call.metadata.delegation;
}
