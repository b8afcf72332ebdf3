import { Globe, ShieldOff, Undo2, type LucideIcon } from 'lucide-react';
import { DiffLines } from '@/components/DiffLines';
import { FileLink } from '@/components/FileLink';
import { useText } from '@/i18n';
import { shownName, shownText } from '@/lib/marks';
import { filesOf } from '@/lib/unifiedDiff';
import { ChangeLines } from './ChangeLines';
import type { CallView, EffectKind } from '../call';
import { DeletedList } from './DeletedList';

/** How many effects are listed; the rest is counted. */
const MOST_LISTED = 12;
/** Effects whose target is a file that can be opened now. */
const OF_FILES = new Set<EffectKind>(['read', 'write', 'replace']);
const CHANGES: EffectKind[] = ['create', 'write', 'replace'];

/** What would happen, before anybody decides, told once: the command, the server's diff, what is deleted, whether it can be taken back. */
export function CallDetails({ call, question }: { call: CallView; question: string }) {
  const t = useText('approval');
  // The effects of a server's tool are unknown, so its arguments are all there is to decide on.
  const unknown = call.effects.every((effect) => effect.kind === 'call' || effect.kind === 'consult');
  const files = call.diff === undefined ? [] : filesOf(call.diff);
  const bare = call.command === undefined && call.changed === undefined && files.length === 0 && unknown;
  const isTold = (kind: EffectKind) => (kind === 'delete' && call.deleted.length > 0) || (CHANGES.includes(kind) && files.length > 0) || kind === 'network' || kind === 'unconfined';
  const effects = call.effects.filter(({ kind }) => !isTold(kind));
  return (
    <div className="flex min-w-0 flex-col gap-2">
      {call.command !== undefined && <Command {...call.command} />}
      {effects.length > 0 && <EffectList effects={effects} label={call.after ? t('effectsAfter') : t('effects')} />}
      {call.deleted.length > 0 && <DeletedList entries={call.deleted} count={Math.max(call.deletedCount, call.deleted.length)} />}
      {files.map(({ path, hunks }) => <FileDiff key={path} path={path} hunks={hunks} />)}
      {files.length === 0 && call.changed !== undefined && <ChangeLines call={call} path={call.changed} question={question} />}
      {bare && Object.keys(call.args).length > 0 && (
        <div className="min-w-0">
          <p className="text-xs text-muted">{t('arguments')}</p>
          <pre tabIndex={0} aria-label={t('arguments')} className="overflow-x-auto rounded-md border bg-surface p-2">{JSON.stringify(call.args, null, 2)}</pre>
        </div>
      )}
      <Facts call={call} />
    </div>
  );
}

function FileDiff({ path, hunks }: ReturnType<typeof filesOf>[number]) {
  const t = useText('approval');
  return (
    <div className="min-w-0">
      <p className="mb-1"><code className="break-all">{shownName(`/${path}`)}</code></p>
      <DiffLines hunks={hunks} label={t('diffOf', { path: shownName(path) })} />
    </div>
  );
}

/** What the effects mean, each with its icon. */
function Facts({ call }: { call: CallView }) {
  const t = useText('approval');
  const has = (kind: EffectKind) => call.effects.some((effect) => effect.kind === kind);
  const facts: [boolean, LucideIcon, string][] = [
    [has('network'), Globe, t('networkNote')],
    [has('unconfined'), ShieldOff, t('unconfinedNote')],
    [call.isReversible !== undefined && !call.after, Undo2, call.isReversible ? t('reversible') : t('irreversible')],
  ];
  return (
    <ul className="flex flex-col gap-1 text-fg2 empty:hidden">
      {facts.filter(([isSo]) => isSo).map(([, Icon, words]) => <li key={words} className="flex items-start gap-2"><Icon size={14} aria-hidden className="mt-0.75 shrink-0" />{words}</li>)}
    </ul>
  );
}

function Command({ text, folder }: { text: string; folder: string }) {
  const t = useText('approval');
  return (
    <pre tabIndex={0} aria-label={t('command')} className="rounded-md bg-sunken px-3 py-2 break-words whitespace-pre-wrap">
      <span className="text-fg2 select-none">{folder !== '' && folder !== '/' ? `${shownName(folder)} ` : ''}$ </span>
      {shownText(text)}
    </pre>
  );
}

/** What each kind of effect does, as a verb. */
export function useEffectWords(): Record<EffectKind, string> {
  const t = useText('approval');
  return {
    read: t('effectRead'),
    create: t('effectCreate'),
    create_folder: t('effectCreateFolder'),
    write: t('effectWrite'),
    delete: t('effectDelete'),
    move: t('effectMove'),
    replace: t('effectReplace'),
    execute: t('effectExecute'),
    network: t('effectNetwork'),
    unconfined: t('effectUnconfined'),
    inspect: t('effectInspect'),
    delegate: t('effectDelegate'),
    call: t('effectCall'),
    consult: t('effectConsult'),
    fetch: t('effectFetch'),
    other: t('effectOther'),
  };
}

function EffectList({ effects, label }: { effects: CallView['effects']; label: string }) {
  const t = useText('approval');
  const words = useEffectWords();
  const loses = (kind: EffectKind) => kind === 'delete' || kind === 'replace';
  return (
    <ul aria-label={label} className="text-sm">
      {effects.slice(0, MOST_LISTED).map((effect, place) => (
        <li key={place} className="flex min-w-0 gap-1.5">
          <span className={`shrink-0 ${loses(effect.kind) ? 'font-medium text-critical' : ''}`}>{words[effect.kind]}</span>
          {effect.target !== '' && <code className="min-w-0 wrap-anywhere">{OF_FILES.has(effect.kind) ? <FileLink place={{ path: effect.target, line: null }}>{shownName(effect.target)}</FileLink> : shownName(effect.target)}</code>}
        </li>
      ))}
      {effects.length > MOST_LISTED && <li className="text-muted">{t('moreEffects', { count: effects.length - MOST_LISTED })}</li>}
    </ul>
  );
}
