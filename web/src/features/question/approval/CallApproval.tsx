import { useText } from '@/i18n';
import { BarFoot, titleClass } from './BarFrame';
import { ButtonRow, type RowButton } from './ButtonRow';
import { type CallView, readCall } from './call';
import { CallDetails, useEffectWords } from './CallDetails';
import type { useAnswering } from './useAnswering';
import type { QuestionView } from './view';

export type Decision = 'approve' | 'approve_always' | 'deny';

/** The keys that decide while the focus is in the bar. */
const DECISION_KEYS: Record<Decision, string> = { approve: 'Alt+A', approve_always: 'Alt+Shift+A', deny: 'Alt+D' };

interface Props {
  view: QuestionView;
  given: ReturnType<typeof useAnswering>;
}

/** A call that waits for a decision: what it would do, why it asks, and the three answers. */
export function CallApproval({ view, given }: Props) {
  const t = useText('question');
  const call = readCall(view.call ?? {});
  const critical = view.severity === 'critical';
  const title = useTitle(call);
  const words = useDecisionWords(call);
  const buttons = (Object.keys(DECISION_KEYS) as Decision[]).map((decision): RowButton => ({
    label: words[decision].label,
    hint: words[decision].hint,
    // What can't be undone is never the button that stands out as the usual one.
    look: decision === 'approve' ? (critical ? 'danger' : 'primary') : 'secondary',
    shortcut: DECISION_KEYS[decision],
    isSafe: decision === 'deny',
    isHintShown: decision === 'approve_always',
    onPress: () => void given.pick(decision),
  }));
  return (
    <div className="flex flex-col gap-3 short:gap-1.5">
      <div>
        <p className={titleClass}>{title}</p>
        <p className="break-words text-fg2 empty:hidden">{call.after ? t('changedFiles', { count: call.effects.length }) : call.reason}</p>
      </div>
      <CallDetails call={call} question={view.id} />
      <BarFoot>
        {given.problem !== null && (
          <p role="alert" className="text-sm text-critical">
            {given.problem}
          </p>
        )}
        <ButtonRow label={call.after ? t('keepNeeded') : t('approvalNeeded')} digits={critical ? 'focus' : 'press'} isHeld={given.held || given.sending} buttons={buttons} />
        <p className="text-xs text-muted pointer-coarse:hidden short:hidden">{call.after ? t('keysAfter') : t('keys')}</p>
      </BarFoot>
    </div>
  );
}

/** The question itself: "Delete 4 files?" where the call does one thing, else whether it may be made. */
function useTitle({ after, command, effects, tool }: CallView): string {
  const t = useText('question');
  const words = useEffectWords();
  const [first, ...others] = effects;
  if (after) return t('keepNeeded');
  if (command !== undefined) return t('runTitle');
  if (first === undefined || first.target === '' || others.some(({ kind }) => kind !== first.kind)) return t('callTitle', { tool });
  return t('actTitle', { act: words[first.kind], what: others.length === 0 ? first.target : t('countedFiles', { count: effects.length }) });
}

function useDecisionWords(call: CallView): Record<Decision, { label: string; hint: string }> {
  const t = useText('question');
  const { tool, folder } = call;
  if (call.after) {
    return {
      approve: { label: t('keep'), hint: t('keepHint') },
      approve_always: { label: t('keepAlways'), hint: t('keepAlwaysHint', { folder }) },
      deny: { label: t('takeBack'), hint: t('takeBackHint') },
    };
  }
  return {
    approve: { label: t('allowOnce'), hint: t('allowOnceHint') },
    approve_always: { label: t('allowAlways'), hint: t('allowAlwaysHint', { tool, folder }) },
    deny: { label: t('deny'), hint: t('denyHint') },
  };
}
