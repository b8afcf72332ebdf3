// What there is to say about a tool call in one line.
import type { JsonObject, Message, Problem } from '@/lib/api/types';
import type { Call } from '@/lib/chat/rows';
import { looksOf } from '@/lib/chat/tools';
import { placeOf, type Place } from '@/lib/paths';
import { shownName, shownText } from '@/lib/marks';

export type CallState = 'proposed' | 'awaiting' | 'running' | 'done' | 'exited' | 'stopped' | 'denied' | 'failed' | 'blocked';

export const toolOf = (message: Message): string => String(message.metadata.tool);
export const errorOf = (result: Message | null): Problem | null => (result?.metadata.error as Problem | undefined) ?? null;

/** The argument that tells one call from another. */
export function summaryOf(call: Message): string {
  const args = (call.metadata.args ?? {}) as JsonObject;
  if (args.from && args.to) return shownName(`${args.from} → ${args.to}`);
  if (args.step_number) return `${args.step_number}: ${args.status}`;
  const main = args.command ?? args.pattern ?? args.url ?? args.query ?? args.symbol ?? args.path ?? args.goal ?? args.plan_file_path ?? args.task ?? args.summary ?? '';
  return typeof main === 'string' ? shownText(main) : '';
}

/** The file that a call is about, to be opened from its line. */
export function fileOf(call: Message): Place | null {
  const { path: named, plan_file_path, offset } = (call.metadata.args ?? {}) as JsonObject;
  const path = named ?? plan_file_path;
  if (typeof path !== 'string' || path === '') return null;
  return looksOf(toolOf(call)).opensFile ? { path, line: typeof offset === 'number' && offset > 0 ? offset : null } : placeOf(path);
}

const REFUSED: Record<string, CallState> = { TOOL_BLOCKED_BY_MODE: 'blocked', TOOL_NOT_PERMITTED: 'blocked', APPROVAL_DENIED: 'denied', CANCELLED: 'stopped' };

export function stateOf({ call, result }: Call, isAwaited: boolean): CallState {
  const error = errorOf(result);
  if (error) return REFUSED[error.code] ?? 'failed';
  if (isAwaited) return 'awaiting';
  if (result) return hasFailed(result) ? 'exited' : 'done';
  return call.metadata.status === 'running' ? 'running' : 'proposed';
}

const factsOf = (result: Message | null): JsonObject => (result?.metadata.facts ?? {}) as JsonObject;

/** A command that ran and did not end well: by its exit code, or without one because it was cut off. */
const hasFailed = (result: Message): boolean => !['undefined', '0'].includes(String(factsOf(result).exit_code));

/** The exit code, where there is one. */
export function exitOf(result: Message | null): number | null {
  const code = factsOf(result).exit_code;
  return typeof code === 'number' ? code : null;
}

/** How long it took, where the server measured that. The times of the messages are no measure: waiting and thinking are between them. */
export function tookOf(result: Message | null): number | null {
  const took = factsOf(result).duration_ms;
  return typeof took === 'number' ? took : null;
}

/** What was counted: lines read, files matched. */
export function factOf(result: Message | null): { key: 'lines' | 'entries' | 'matches'; count: number } | null {
  const facts = factsOf(result);
  for (const key of ['lines', 'entries', 'matches'] as const) if (typeof facts[key] === 'number') return { key, count: facts[key] };
  return null;
}

export const diffOf = (result: Message | null): string | null => {
  const { diff } = factsOf(result);
  return typeof diff === 'string' ? diff : null;
};

/** A result with the colours of the terminal that it was printed to, where the server has them. */
export function printedOf(result: Message): string {
  const coloured = (result.metadata.facts as { terminal?: unknown } | undefined)?.terminal;
  if (typeof coloured !== 'string') return result.content;
  // oxlint-disable-next-line no-control-regex -- control characters are the subject here
  const plain = coloured.replace(/\x1b\[[0-9;:]*m/g, '');
  return result.content.startsWith(plain) ? coloured + result.content.slice(plain.length) : result.content;
}
