// The history as the rows that are shown: a call together with its result, neighbouring reads as one.
import type { Message } from '@/lib/api/types';

export interface Call {
  call: Message;
  result: Message | null;
}

export type Row =
  | { kind: 'message'; key: string; message: Message }
  | ({ kind: 'call'; key: string } & Call)
  | { kind: 'reads'; key: string; calls: Call[] };

export function rowsOf(messages: Message[]): Row[] {
  const results = new Map(messages.filter((one) => one.message_type === 'tool_result').map((one) => [one.metadata.call_id, one]));
  const called = new Set(messages.filter((one) => one.message_type === 'tool_call').map((one) => one.metadata.call_id));
  const questions = new Set(messages.filter((one) => one.message_type === 'question').map((one) => one.metadata.question_id));
  const rows: Row[] = [];
  for (const message of messages) {
    if (message.message_type === 'tool_result' && called.has(message.metadata.call_id)) continue;
    // The question's card tells the answer, and better than the line that stands for it.
    if (questions.has(answeredIn(message))) continue;
    if (message.message_type !== 'tool_call') {
      rows.push({ kind: 'message', key: message.id, message });
      continue;
    }
    const one: Call = { call: message, result: results.get(message.metadata.call_id) ?? null };
    const last = rows.at(-1);
    if (isRead(one) && last?.kind === 'reads' && isSameAgent(last.calls[0], one)) last.calls.push(one);
    else if (isRead(one) && last?.kind === 'call' && isRead(last) && isSameAgent(last, one)) {
      rows[rows.length - 1] = { kind: 'reads', key: last.key, calls: [{ call: last.call, result: last.result }, one] };
    } else rows.push({ kind: 'call', key: message.id, ...one });
  }
  return rows;
}

/** The question that a message answers. */
function answeredIn({ metadata }: Message): unknown {
  return (metadata.question_answer as { question_id?: unknown } | undefined)?.question_id ?? null;
}

const READS = new Set<unknown>(['read', 'search']);

/** It changed nothing and went well, so nobody needs to see it by itself. */
function isRead({ call, result }: Call): boolean {
  return READS.has(call.metadata.category) && result?.metadata.success === true;
}

function isSameAgent(a: Call | undefined, b: Call): boolean {
  return a?.call.agent_role === b.call.agent_role && a.call.metadata.delegation === b.call.metadata.delegation;
}
