// What a call that waits for a decision would do, as the card shows it.
import { align } from '@/lib/align';
import type { Json, JsonObject } from '@/lib/api/types';
import { isObject } from './json';

export type EffectKind =
  | 'read'
  | 'create'
  | 'create_folder'
  | 'write'
  | 'delete'
  | 'move'
  | 'replace'
  | 'execute'
  | 'network'
  | 'unconfined'
  | 'inspect'
  | 'delegate'
  | 'call'
  | 'consult'
  | 'other';

export interface EffectView {
  kind: EffectKind;
  /** The path, role or command it is about; empty where the kind says it all. */
  target: string;
}

/** A change as lines, to be shown before it is made. */
export interface LineChange {
  path: string;
  lines: { text: string; change: 'same' | 'added' | 'removed' }[];
}

export interface CallView {
  tool: string;
  reason: string;
  folder: string;
  /** Whether the call was made already, and its changes are to be kept or taken back. */
  after: boolean;
  effects: EffectView[];
  command?: { text: string; folder: string };
  change?: LineChange;
  /** What is shown when nothing else is: the arguments as they are. */
  args: JsonObject;
}

export function readCall(raw: JsonObject): CallView {
  const effects = (Array.isArray(raw.effects) ? raw.effects : []).filter(isObject);
  const args = isObject(raw.args) ? raw.args : {};
  const execute = effects.find((effect) => effect.effect === 'execute' && isObject(effect.target));
  const after = raw.moment === 'after';
  const change = after ? undefined : changeOf(String(raw.tool ?? ''), args);
  return {
    tool: text(raw.tool),
    reason: text(raw.reason),
    folder: text(raw.folder) || '/',
    after,
    effects: worthTelling(effects.filter((effect) => effect.effect !== 'execute').map(readEffect)),
    ...(execute !== undefined && isObject(execute.target) && { command: { text: text(execute.target.command), folder: text(execute.target.folder) } }),
    ...(after && typeof args.command === 'string' && { command: { text: args.command, folder: text(args.cwd) || '/' } }),
    ...(change !== undefined && { change }),
    args,
  };
}

/** That a file is read before it is changed goes without saying. */
function worthTelling(effects: EffectView[]): EffectView[] {
  const changes = effects.filter((effect) => effect.kind !== 'read');
  return changes.length > 0 ? changes : effects;
}

const KINDS: EffectKind[] = ['read', 'create', 'create_folder', 'write', 'delete', 'move', 'replace', 'network', 'unconfined', 'inspect', 'delegate', 'call', 'consult'];

function readEffect(effect: JsonObject): EffectView {
  const kind = KINDS.find((known) => known === effect.effect) ?? 'other';
  const { target } = effect;
  if (isObject(target) && 'server' in target) return { kind, target: `${text(target.server)}: ${text(target.tool)}` };
  if (isObject(target) && 'from' in target) return { kind, target: `${text(target.from)} → ${text(target.to)}` };
  return { kind, target: kind === 'other' ? String(effect.effect ?? '') : text(target) };
}

/** The most lines of a change that are shown before a decision. */
const MOST_LINES = 400;

function changeOf(tool: string, args: JsonObject): LineChange | undefined {
  const path = text(args.path);
  if (tool === 'write' && typeof args.content === 'string') return { path, lines: compareLines('', args.content) };
  if (tool !== 'edit' || typeof args.old_string !== 'string' || typeof args.new_string !== 'string') return undefined;
  return { path, lines: compareLines(args.old_string, args.new_string) };
}

function compareLines(before: string, after: string): LineChange['lines'] {
  const lines = align(linesOf(before), linesOf(after), (one, other) => one === other).map(([old, line]): LineChange['lines'][number] => {
    if (old !== undefined && line !== undefined) return { text: line, change: 'same' };
    return line === undefined ? { text: old ?? '', change: 'removed' } : { text: line, change: 'added' };
  });
  const more = lines.length - MOST_LINES;
  return more > 0 ? [...lines.slice(0, MOST_LINES), { text: `… ${more}`, change: 'same' }] : lines;
}

function linesOf(content: string): string[] {
  const lines = content.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
