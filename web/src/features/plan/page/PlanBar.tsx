import { Check, ChevronDown, LoaderCircle, TriangleAlert } from 'lucide-react';
import { useId, useState } from 'react';
import { Link } from 'wouter';
import { Button, offClass } from '@/components/Button';
import { Tip } from '@/components/Tip';
import { UnsentRemarks } from '@/components/UnsentRemarks';
import { useLocale, useText } from '@/i18n';
import { useChatIds } from '@/lib/chat/context';
import { useDrift } from '@/lib/chat/drift';
import { modifier } from '@/lib/keys';
import { longDuration } from '@/lib/time';
import { DriftDialog, useHindranceText } from '../ExecuteButton';
import type { ExecuteHindrance } from '../model';
import { ExecuteDialog } from './ExecuteDialog';
import { RequestDialog } from './RequestDialog';
import { useReview } from './review';
import { totalMinutes, untilStop } from './run';
import type { useRun } from './useRun';

/** Always in view: what would run and how long, what can be sent, and the one button that starts. */
export function PlanBar({ hindrance, run, isActing }: { hindrance: ExecuteHindrance | undefined; run: ReturnType<typeof useRun>; isActing: boolean }) {
  const t = useText('planPage');
  const plan = useText('plan');
  const reasonId = useId();
  const { draft, choice, newest, mayComment, isPhone, isNewest } = useReview();
  const [dialog, setDialog] = useState<'request' | 'execute' | null>(null);
  const words = useRunWords();
  const hindered = useHindranceText(hindrance, newest);
  const reason = hindered ?? (choice.steps.length === 0 ? t('noSteps') : undefined);
  const count = draft.written.length + Number(draft.whole.trim() !== '');
  const label = isPhone ? t('comments') : t('requestChanges');
  const off = reason === undefined ? '' : `${offClass} opacity-100!`;
  const execute = () => run.press({ choice, comment: '' });
  return (
    <footer className="plan-bar flex shrink-0 flex-wrap items-center border-t bg-bg">
      <BarFacts isActing={isActing} />
      <div className="ml-auto flex min-w-0 flex-wrap items-center justify-end gap-2 max-sm:w-full">
        {run.problem !== null && <p role="alert" className="text-critical">{run.problem}</p>}
        {reason !== undefined && <span id={reasonId} className="text-xs text-muted max-sm:w-full">{reason}{isActing && <ChatLink />}</span>}
        {isNewest && <Button aria-disabled={!mayComment} title={mayComment ? undefined : plan('reviseAct')} onClick={() => mayComment && setDialog('request')} className="max-sm:flex-1">{label}{count > 0 && <span className="text-muted">{count}</span>}</Button>}
        <span className="plan-bar-run flex min-w-0">
          <Tip text={reason ?? t('executeHint')}>
            <Button data-execute look="primary" aria-disabled={reason !== undefined || run.starting} aria-describedby={reason === undefined ? undefined : reasonId} aria-keyshortcuts="Control+Enter" onClick={execute} className={`plan-bar-execute min-w-0 max-sm:flex-1 ${off}`}>
              {run.starting && <LoaderCircle className="size-4 animate-spin" aria-hidden="true" />}
              {run.starting ? t('starting') : words}
              {!isPhone && <kbd aria-hidden className="font-sans text-xs font-normal opacity-80">{modifier()} ↵</kbd>}
            </Button>
          </Tip>
          <Button look="primary" aria-haspopup="dialog" aria-label={t('options')} aria-disabled={hindrance !== undefined} onClick={() => hindrance === undefined && setDialog('execute')} className={`plan-bar-options ${hindrance === undefined ? '' : offClass}`}><ChevronDown className="size-4" aria-hidden="true" /></Button>
        </span>
      </div>
      <RequestDialog isOpen={dialog === 'request'} close={() => setDialog(null)} />
      <ExecuteDialog key={`${dialog === 'execute'}`} isOpen={dialog === 'execute'} close={() => setDialog(null)} start={(order) => { setDialog(null); run.press(order); }} />
      <UnsentRemarks isOpen={run.asking !== null} close={run.back} confirm={() => run.asking && void run.start(run.asking)} />
      <DriftDialog files={run.drifted?.files ?? []} close={run.back} confirm={() => run.drifted && void run.start(run.drifted.order, true)} />
    </footer>
  );
}

function ChatLink() {
  const t = useText('planPage');
  const { workspaceId, chatId } = useChatIds();
  return <Link href={`/w/${workspaceId}/c/${chatId}`} className="ml-2 text-fg underline underline-offset-3">{t('openChat')}</Link>;
}

/** What the button does. */
function useRunWords(): string {
  const t = useText('planPage');
  const { choice, plan } = useReview();
  const steps = untilStop(choice);
  const [from = 0, to = 0] = [steps[0], steps.at(-1)];
  if (steps.length === plan.steps.length || steps.length === 0) return t('executePlan');
  if (steps.length === 1) return t('executeOne', { step: from });
  return to - from + 1 === steps.length ? t('executeRange', { from, to }) : t('executeSeveral', { count: steps.length });
}

function BarFacts({ isActing }: { isActing: boolean }) {
  const t = useText('planPage');
  const locale = useLocale((state) => state.locale);
  const { plan, choice, shown, isNewest, isPhone } = useReview();
  const drift = useDrift(shown.sha256, isNewest && !isActing);
  const steps = untilStop(choice);
  const [from = 0, to = 0] = [steps[0], steps.at(-1)];
  const named = steps.length === 1 ? t('one', { step: from }) : to - from + 1 === steps.length ? t('range', { from, to }) : t('several', { count: steps.length });
  const timeOf = (numbers: number[]) => longDuration(locale, totalMinutes(plan.steps, numbers) * 60_000);
  const all = plan.steps.map((step) => step.step_number);
  const hasTime = totalMinutes(plan.steps, steps) > 0;
  const isWhole = steps.length === all.length;
  return (
    <div className="flex min-w-0 flex-wrap items-center gap-x-6">
      {steps.length > 0 && (
        <p className="min-w-0">
          <span className="font-semibold">{hasTime ? t('stepsTime', { steps: named, time: timeOf(steps) }) : named}</span>
          {!isWhole && !isPhone && totalMinutes(plan.steps, all) > 0 && <span className="block text-xs text-muted">{t('wholeTime', { time: timeOf(all) })}</span>}
        </p>
      )}
      {isNewest && !isActing && !isPhone && (
        <p className={`flex items-center gap-1.5 text-xs ${drift.files.length > 0 ? 'text-major' : 'text-muted'}`}>
          {drift.files.length > 0 ? <TriangleAlert className="size-3.5" aria-hidden="true" /> : <Check className="size-3.5" aria-hidden="true" />}
          {drift.files.length > 0 ? t('drift', { count: drift.files.length, revision: shown.revision }) : t('noDrift', { revision: shown.revision })}
        </p>
      )}
    </div>
  );
}
