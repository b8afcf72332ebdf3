import { useEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import { Button } from '@/components/Button';
import { useText } from '@/i18n';
import { useChatIds } from '@/lib/chat/context';
import { cut } from '@/lib/cut';
import { useDraft } from '@/lib/drafts';
import { shownName } from '@/lib/marks';
import { BarFoot, titleClass } from '../BarFrame';
import { ButtonRow, type RowButton } from '../ButtonRow';
import { type CallView, type Decision, type EffectKind, readCall } from '../call';
import type { useAnswering } from '../useAnswering';
import type { QuestionView } from '../view';
import { CallDetails, useEffectWords } from './CallDetails';
import { DenyReason } from './DenyReason';
import { MoreAnswers } from './MoreAnswers';

/** Effects whose target is a path, which the button can name. */
const OF_PATHS = new Set<EffectKind>(['read', 'create', 'create_folder', 'write', 'delete', 'replace', 'move']);
/** Longer names of files are cut on the button. */
const LONGEST_NAME = 32;

interface Props {
  view: QuestionView;
  given: ReturnType<typeof useAnswering>;
}

/** A call that waits for a decision: what it would do, why it asks, and the answers. */
export function CallApproval({ view, given }: Props) {
  const t = useText('approval');
  const asked = useText('question');
  const { workspaceId, chatId } = useChatIds();
  const call = readCall(view.call ?? {});
  const critical = view.severity === 'critical';
  const title = useTitle(call);
  const words = useWords(call);
  const [reason, setReason] = useDraft(`deny.${view.id}`);
  const [isReasoned, setReasoned] = useState(reason !== '');
  const root = useRef<HTMLDivElement>(null);
  useReasonKey(root, () => setReasoned(true));
  const isHeld = given.held || given.sending;
  const answer = (decision: Decision, comment?: string) => void given.pick(decision, comment).then((isSent) => isSent && setReason(''));
  const buttons: RowButton[] = [
    // What can't be undone is never the button that stands out as the usual one.
    { label: words.approve, hint: words.approveHint, look: critical ? 'danger' : 'secondary', shortcut: 'Alt+A', onPress: () => answer('approve') },
    { label: words.deny, hint: words.denyHint, look: 'secondary', shortcut: 'Alt+D', isSafe: true, onPress: () => answer('deny') },
    { label: words.denyWithReason, look: 'quiet', shortcut: 'Alt+R', onPress: () => setReasoned(true) },
  ];
  return (
    <div ref={root} className="flex flex-col gap-3 short:gap-1.5">
      <div>
        <div className="flex flex-wrap items-baseline gap-x-3 pr-[var(--corner,5rem)]">
          <p className={`${titleClass} min-w-0 pr-0! wrap-anywhere`}>{title}</p>
          {call.step !== undefined && <Link href={`/w/${workspaceId}/c/${chatId}/plan?step=${call.step}`} className="ml-auto shrink-0 text-xs text-fg2 max-sm:ml-0 underline decoration-control underline-offset-3">{t('stepOfPlan', { step: call.step })}</Link>}
        </div>
        <p className="break-words text-fg2 empty:hidden">{call.after ? asked('changedFiles', { count: call.effects.length }) : isToldAlready(call) ? '' : call.reason}</p>
      </div>
      <CallDetails call={call} question={view.id} />
      <BarFoot>
        {given.problem !== null && <p role="alert" className="text-sm text-critical">{given.problem}</p>}
        {isReasoned && <DenyReason reason={reason} setReason={setReason} label={call.after ? t('takeBackAndTell') : t('denyAndTell')} isHeld={isHeld} send={() => answer('deny', reason.trim())} close={() => setReasoned(false)} />}
        <ButtonRow label={call.after ? t('keepNeeded') : t('approvalNeeded')} digits={critical ? 'focus' : 'press'} isHeld={isHeld} buttons={isReasoned ? buttons.slice(0, 1) : buttons}>
          {!isReasoned && <MoreAnswers label={words.always} hint={words.alwaysHint} isHeld={isHeld} always={() => answer('approve_always')} />}
          {isReasoned && <Button look="quiet" className="ml-auto" onClick={() => setReasoned(false)}><kbd aria-hidden className="rounded-sm bg-sunken px-1.5">Esc</kbd>{t('allAnswers')}</Button>}
        </ButtonRow>
      </BarFoot>
    </div>
  );
}

/** The list says what would be deleted; a reason that says the same is not told again. */
const isToldAlready = ({ deleted, reason }: CallView) => deleted.length > 0 && reason.endsWith('would be deleted');

/** Alt+R, from anywhere in the dock. By `code`, since Alt makes other letters on some keyboards. */
function useReasonKey(root: { current: HTMLElement | null }, open: () => void): void {
  useEffect(() => {
    const dock = root.current?.closest<HTMLElement>('section[data-kind]');
    if (!dock) return undefined;
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.code !== 'KeyR' || !event.altKey || event.ctrlKey || event.metaKey || event.isComposing) return;
      event.preventDefault();
      open();
    };
    dock.addEventListener('keydown', onKeyDown);
    return () => dock.removeEventListener('keydown', onKeyDown);
  });
}

const filesIn = ({ deleted, deletedCount }: CallView) => Math.max(deletedCount, deleted.length) - deleted.filter(({ kind }) => kind === 'folder').length;

/** A page by its host: the details below show the whole address, which may be long. */
const shortTarget = ({ kind, target }: CallView['effects'][number]) => (kind === 'fetch' && URL.canParse(target) ? new URL(target).host : target);

/** The question itself: "Delete 4 files, 173 lines?" where the call does one thing, else whether it may be made. */
function useTitle(call: CallView): string {
  const t = useText('approval');
  const words = useEffectWords();
  const { after, command, effects, tool, deleted } = call;
  const [first, ...others] = effects;
  if (after) return t('keepNeeded');
  if (command !== undefined) return effects.some(({ kind }) => kind === 'network') ? t('networkTitle') : t('runTitle');
  if (deleted.length > 0 && filesIn(call) > 0) {
    const lines = deleted.reduce((sum, entry) => sum + (entry.lines ?? 0), 0);
    return lines > 0 ? t('deleteLinesTitle', { count: filesIn(call), lines }) : t('deleteTitle', { count: filesIn(call) });
  }
  if (deleted[0]) return t('deleteFolderTitle', { path: deleted[0].path });
  if (first === undefined || first.target === '' || others.some(({ kind }) => kind !== first.kind)) return t('callTitle', { tool });
  return t('actTitle', { act: words[first.kind], what: others.length === 0 ? shortTarget(first) : t('countedFiles', { count: effects.length }) });
}

function useWords(call: CallView) {
  const t = useText('approval');
  const act = useAct(call);
  const { tool, folder } = call;
  if (call.after) return { approve: t('keep'), approveHint: t('keepHint'), always: t('keepAlways'), alwaysHint: t('keepAlwaysHint', { folder }), deny: t('takeBack'), denyHint: t('takeBackHint'), denyWithReason: t('takeBackWithReason') };
  return { approve: act, approveHint: t('allowOnceHint'), always: t('allowAlways'), alwaysHint: t('allowAlwaysHint', { tool, folder }), deny: t('deny'), denyHint: t('denyHint'), denyWithReason: t('denyWithReason') };
}

/** The act itself, for the button that has it done: "Delete 4 files", "Change lib.rs", "Run once". */
function useAct(call: CallView): string {
  const t = useText('approval');
  const words = useEffectWords();
  const [first, ...others] = call.effects;
  if (call.command !== undefined) return call.effects.some(({ kind }) => kind === 'network') ? t('runNetwork') : t('runOnce');
  if (call.deleted.length > 0) return filesIn(call) > 0 ? t('deleteAct', { count: filesIn(call) }) : t('deleteFolderAct');
  if (first === undefined || first.target === '' || others.some(({ kind }) => kind !== first.kind)) return t('allowOnce');
  if (!OF_PATHS.has(first.kind)) return t('allowOnce');
  return t('act', { act: words[first.kind], what: others.length === 0 ? cut(shownName(first.target.slice(first.target.lastIndexOf('/') + 1)), LONGEST_NAME) : t('countedFiles', { count: call.effects.length }) });
}
