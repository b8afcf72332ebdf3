// What a call that waits for a decision would do, as the card shows it.
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
  | 'fetch'
  | 'other';

interface EffectView {
  kind: EffectKind;
  /** The path, role or command it is about; empty where the kind says it all. */
  target: string;
}

/** A file or folder that a call would delete. */
export interface DeletedEntry {
  path: string;
  kind: 'file' | 'folder' | 'link' | 'other';
  size?: number;
  lines?: number;
  beginning?: string;
}

export type Decision = 'approve' | 'approve_always' | 'deny';

export interface CallView {
  tool: string;
  reason: string;
  folder: string;
  /** Whether the call was made already, and its changes are to be kept or taken back. */
  after: boolean;
  effects: EffectView[];
  command?: { text: string; folder: string };
  /** The file whose text it changes: what of it is seen in `change.ts`. */
  changed?: string;
  /** The plan's step that was in progress. */
  step?: number;
  /** The server's own diff of what it would change. */
  diff?: string;
  deleted: DeletedEntry[];
  deletedCount: number;
  /** Unknown on cards of early versions. */
  isReversible?: boolean;
  /** What is shown when nothing else is: the arguments as they are. */
  args: JsonObject;
}

export function readCall(raw: JsonObject): CallView {
  const effects = (Array.isArray(raw.effects) ? raw.effects : []).filter(isObject);
  const args = isObject(raw.args) ? raw.args : {};
  const execute = effects.find((effect) => effect.effect === 'execute' && isObject(effect.target));
  const after = raw.moment === 'after';
  return {
    tool: text(raw.tool),
    reason: text(raw.reason),
    folder: text(raw.folder) || '/',
    after,
    effects: worthTelling(effects.filter((effect) => effect.effect !== 'execute' && effect.effect !== 'keep').map(readEffect)),
    ...(execute !== undefined && isObject(execute.target) && { command: { text: text(execute.target.command), folder: text(execute.target.folder) } }),
    ...(after && typeof args.command === 'string' && { command: { text: args.command, folder: text(args.cwd) || '/' } }),
    ...(!after && changesText(text(raw.tool), args) && { changed: text(args.path) }),
    ...(typeof raw.step_number === 'number' && { step: raw.step_number }),
    ...(typeof raw.diff === 'string' && { diff: raw.diff }),
    deleted: (Array.isArray(raw.deleted) ? raw.deleted : []).filter(isObject).map(readDeleted),
    deletedCount: typeof raw.deleted_count === 'number' ? raw.deleted_count : 0,
    ...(typeof raw.reversible === 'boolean' && { isReversible: raw.reversible }),
    args,
  };
}

const ENTRY_KINDS = ['file', 'folder', 'link'] as const;

function readDeleted({ path, kind, size, lines, beginning }: JsonObject): DeletedEntry {
  return {
    path: text(path),
    kind: ENTRY_KINDS.find((known) => known === kind) ?? 'other',
    ...(typeof size === 'number' && { size }),
    ...(typeof lines === 'number' && { lines }),
    ...(typeof beginning === 'string' && { beginning }),
  };
}

function changesText(tool: string, args: JsonObject): boolean {
  if (tool === 'write') return typeof args.content === 'string';
  return tool === 'edit' && typeof args.old_string === 'string' && typeof args.new_string === 'string';
}

/** That a file is read before it is changed goes without saying. */
function worthTelling(effects: EffectView[]): EffectView[] {
  const changes = effects.filter((effect) => effect.kind !== 'read');
  return changes.length > 0 ? changes : effects;
}

const KINDS: EffectKind[] = ['read', 'create', 'create_folder', 'write', 'delete', 'move', 'replace', 'network', 'unconfined', 'inspect', 'delegate', 'call', 'consult', 'fetch'];

function readEffect(effect: JsonObject): EffectView {
  const kind = KINDS.find((known) => known === effect.effect) ?? 'other';
  const { target } = effect;
  if (isObject(target) && 'server' in target) return { kind, target: `${text(target.server)}: ${text(target.tool)}` };
  if (isObject(target) && 'from' in target) return { kind, target: `${text(target.from)} → ${text(target.to)}` };
  return { kind, target: kind === 'other' ? String(effect.effect ?? '') : text(target) };
}

function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
