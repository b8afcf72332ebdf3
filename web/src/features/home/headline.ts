// What a chat asks, in one line. Text between backquotes is code.
import type { InboxQuestion } from '@/lib/api/inbox';
import type { Text } from '@/i18n';
import { cut } from '@/lib/cut';
import { shownName } from '@/lib/marks';

const LONGEST = 200;
const LONGEST_COMMAND = 80;
/** Paths are shown as people type them. */
const short = (path: string) => shownName(path.replace(/^\//, '') || '/');

export function headline(t: Text<'inbox'>, question: InboxQuestion): string {
  const { plan, call } = question;
  if (question.kind === 'plan_approval' && plan) return t('planReady', { revision: plan.revision ?? 1, steps: plan.steps, files: plan.files });
  const told = question.kind === 'tool_approval' && call ? ofCall(t, call) : null;
  return told ?? plain(question.text);
}

function ofCall(t: Text<'inbox'>, call: NonNullable<InboxQuestion['call']>): string | null {
  const paths = call.effects.flatMap(({ path }) => (path ? [path] : []));
  const [path] = paths;
  const has = (...kinds: string[]) => call.effects.some(({ effect }) => kinds.includes(effect));
  const command = cut(shownName(call.command?.split('\n')[0] ?? ''), LONGEST_COMMAND)
  if (command && has('network')) return t('runNetwork', { command });
  if (command && paths.length > 0) return t('keepChanges', { command });
  if (command) return t('run', { command });
  if (!path) return null;
  if (has('delete')) return call.effect_count > 1 ? t('deleteMany', { count: call.effect_count, path: short(folderOf(paths)) }) : t('deleteOne', { path: short(path) });
  if (has('write', 'replace')) return call.effect_count > 1 ? t('changeMany', { count: call.effect_count }) : t('changeOne', { path: short(path) });
  if (has('create', 'create_folder')) return t('createOne', { path: short(path) });
  if (has('move')) return t('moveOne', { path: short(path) });
  return has('read') ? t('readOne', { path: short(path) }) : null;
}

/** The folder that all of them are in. */
export function folderOf(paths: string[]): string {
  const [first = [], ...rest] = paths.map((path) => path.split('/').slice(0, -1));
  const length = rest.reduce((common, parts) => {
    const differs = parts.slice(0, common).findIndex((part, index) => part !== first[index]);
    return differs < 0 ? Math.min(common, parts.length) : differs;
  }, first.length);
  return first.slice(0, length).join('/') || '/';
}

/** Markdown without its marks, but for code. */
const plain = (text: string) => cut(text.replaceAll(/[*_#>]/g, '').replaceAll(/\s+/g, ' ').trim(), LONGEST);
