// What happened in a chat, in the order in which it did: from its history and from the log.
import type { AuditEntry, Json, JsonObject, Message, RoleName, Severity, SwitchedBy } from '@/lib/api/types';

/** What an entry is about; also what it can be filtered by. */
export type Topic = 'words' | 'plan' | 'mode' | 'questions' | 'tools' | 'violations' | 'files';
export const TOPICS: Topic[] = ['words', 'plan', 'mode', 'questions', 'tools', 'violations', 'files'];

interface Base {
  key: string;
  at: string;
  topic: Topic;
  /** The message that it leads to. */
  message: string | null;
  role: RoleName | null;
}

export type Entry = Base &
  (
    | { kind: 'began' }
    | { kind: 'said' | 'answered' | 'replied' | 'note' | 'reverted' | 'compacted'; text: string }
    | { kind: 'planned'; text: string; revision: number }
    | { kind: 'asked'; text: string; severity: Severity | null }
    | { kind: 'switched'; to: RoleName; by: SwitchedBy }
    | { kind: 'called'; tools: [tool: string, count: number][] }
    | { kind: 'blocked'; tool: string; aim: string; code: string }
    | { kind: 'allowed' | 'denied'; tool: string }
    | { kind: 'ordered' }
  );

/** One after the other, oldest first; calls that follow each other are one. */
export function entriesOf(messages: Message[], log: AuditEntry[]): Entry[] {
  const all = [...messages.flatMap(ofMessage), ...log.flatMap(ofLog)].toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
  const entries: Entry[] = [];
  for (const entry of all) {
    const last = entries.at(-1);
    if (entry.kind === 'called' && last?.kind === 'called' && last.role === entry.role) entries[entries.length - 1] = { ...last, tools: added(last.tools, entry.tools) };
    else entries.push(entry);
  }
  return entries;
}

function added(tools: [string, number][], more: [string, number][]): [string, number][] {
  const counts = new Map(tools);
  for (const [tool, count] of more) counts.set(tool, (counts.get(tool) ?? 0) + count);
  return [...counts];
}

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

function ofMessage(message: Message): Entry[] {
  const { id, created_at: at, agent_role: role, content, metadata } = message;
  const base = { key: id, at, message: id, role };
  switch (message.message_type) {
    case 'plan': return [{ ...base, topic: 'plan', kind: 'planned', text: text((metadata.plan as JsonObject | undefined)?.goal) || content, revision: Number(metadata.revision ?? 1) }];
    case 'question': return [{ ...base, topic: 'questions', kind: 'asked', text: content, severity: (metadata.severity as Severity | undefined) ?? null }];
    case 'tool_call': return [{ ...base, topic: 'tools', kind: 'called', tools: [[String(metadata.tool), 1]] }];
    case 'tool_result': return [];
    case 'text': return ofText(message, base);
  }
}

function ofText({ author, content, metadata }: Message, base: Omit<Base, 'topic'>): Entry[] {
  if (author === 'user') return metadata.question_answer === undefined ? [{ ...base, topic: 'words', kind: 'said', text: content }] : [{ ...base, topic: 'questions', kind: 'answered', text: content }];
  if (author === 'assistant') return content.trim() === '' ? [] : [{ ...base, topic: 'words', kind: 'replied', text: content }];
  const change = metadata.mode_change as { to: RoleName; by: SwitchedBy } | undefined;
  if (change) return [{ ...base, topic: 'mode', kind: 'switched', to: change.to, by: change.by }];
  // The message's own words are for the model.
  if (metadata.revert !== undefined) return [{ ...base, topic: 'files', kind: 'reverted', text: ((metadata.revert as { files?: { path: string }[] }).files ?? []).map((file) => file.path).join(', ') }];
  if (metadata.compaction !== undefined) return [{ ...base, topic: 'words', kind: 'compacted', text: content }];
  return [{ ...base, topic: 'words', kind: 'note', text: content }];
}

/** What the history does not tell, or not as well. */
function ofLog({ id, at, kind, agent_role: role, details }: AuditEntry): Entry[] {
  const base = { key: `log-${id}`, at, message: null, role };
  switch (kind) {
    case 'tool_blocked': return [{ ...base, topic: 'violations', kind: 'blocked', tool: text(details.tool), aim: aimOf(details.args), code: text(details.code) }];
    case 'approval_given': return details.tool ? [{ ...base, topic: 'questions', kind: 'allowed', tool: text(details.tool) }] : [];
    case 'approval_denied': return [{ ...base, topic: 'questions', kind: 'denied', tool: text(details.tool) }];
    case 'execution_intent_detected': return [{ ...base, topic: 'mode', kind: 'ordered' }];
    case 'mode_entered': return details.by === undefined ? [{ ...base, topic: 'mode', kind: 'began' }] : [];
    default: return [];
  }
}

function aimOf(args: Json | undefined): string {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return '';
  return text(args.command) || text(args.path) || [text(args.from), text(args.to)].filter(Boolean).join(' → ');
}

/** The first line of something long. */
export const opening = (content: string): string => content.trim().split('\n')[0] ?? '';
