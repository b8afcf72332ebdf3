import { useText } from '@/i18n';
import { ChangeLines } from './ChangeLines';
import type { CallView, EffectKind } from './call';
import { shownName, shownText } from '@/lib/marks';

/** How many effects are listed; the rest is counted. */
const MOST_LISTED = 12;

/** What would happen, before anybody decides: the command, the change, the files. */
export function CallDetails({ call, question }: { call: CallView; question: string }) {
  const t = useText('question');
  // What a server's tool does is not known, so what it is told is all there is to decide on.
  const unknown = call.effects.every((effect) => effect.kind === 'call' || effect.kind === 'consult');
  const bare = call.command === undefined && call.changed === undefined && unknown;
  return (
    <div className="flex min-w-0 flex-col gap-2">
      {call.command !== undefined && <Command {...call.command} />}
      {call.effects.length > 0 && (
        <div>
          <p className="text-xs text-muted">{call.after ? t('effectsAfter') : t('effects')}</p>
          <EffectList call={call} />
        </div>
      )}
      {call.changed !== undefined && <ChangeLines call={call} path={call.changed} question={question} />}
      {bare && Object.keys(call.args).length > 0 && (
        <div className="min-w-0">
          <p className="text-xs text-muted">{t('arguments')}</p>
          <pre tabIndex={0} aria-label={t('arguments')} className="overflow-x-auto rounded-md border bg-surface p-2">
            {JSON.stringify(call.args, null, 2)}
          </pre>
        </div>
      )}
    </div>
  );
}

function Command({ text, folder }: { text: string; folder: string }) {
  const t = useText('question');
  return (
    <div className="min-w-0">
      <p className="text-xs text-muted">
        <span>{t('command')}</span>
        {folder !== '' && folder !== '/' && <span className="text-muted"> {t('inFolder', { folder: shownName(folder) })}</span>}
      </p>
      <pre tabIndex={0} aria-label={t('command')} className="rounded-md border bg-surface p-2 break-words whitespace-pre-wrap">
        {shownText(text)}
      </pre>
    </div>
  );
}

/** What each kind of effect does, as a verb. */
export function useEffectWords(): Record<EffectKind, string> {
  const t = useText('question');
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
    other: t('effectOther'),
  };
}

function EffectList({ call }: { call: CallView }) {
  const t = useText('question');
  const words = useEffectWords();
  const loses = (kind: EffectKind) => kind === 'delete' || kind === 'replace';
  return (
    <ul className="text-sm">
      {call.effects.slice(0, MOST_LISTED).map((effect, place) => (
        <li key={place} className="flex min-w-0 gap-1.5">
          <span className={`shrink-0 ${loses(effect.kind) ? 'font-medium text-critical' : ''}`}>{words[effect.kind]}</span>
          {effect.target !== '' && <code className="min-w-0 break-all">{shownName(effect.target)}</code>}
        </li>
      ))}
      {call.effects.length > MOST_LISTED && <li className="text-muted">{t('moreEffects', { count: call.effects.length - MOST_LISTED })}</li>}
    </ul>
  );
}
