import { useState } from 'react';
import { useText } from '@/i18n';
import { useChatView } from '@/lib/chat/context';
import { BarFoot, titleClass } from './BarFrame';
import { ButtonRow } from './ButtonRow';
import { inputClass } from './fields/frame';
import type { useAnswering } from './useAnswering';
import type { QuestionView } from './view';

/** The stop that the user wanted after a step: go on, change the plan, or leave it at that. A comment goes along. */
export function StepStop({ view, given }: { view: QuestionView; given: ReturnType<typeof useAnswering> }) {
  const t = useText('planPage');
  const [comment, setComment] = useState('');
  const steps = useOpenSteps();
  const stop = useChatView(({ chat }) => chat.progress?.stop_after ?? null);
  const [from, to] = [steps[0], steps.at(-1)];
  const next = from === undefined || to === undefined ? t('stopNothing') : from === to ? t('stopNextOne', { step: from }) : t('stopNext', { from, to });
  const decide = (decision: string) => void given.pick(decision, comment.trim() || undefined);
  return (
    <div className="flex flex-col gap-3">
      <div>
        <p className={titleClass}>{stop === null ? view.items[0]?.text : t('stopTitle', { step: stop })}</p>
        <p className="text-fg2">{next}</p>
      </div>
      <textarea value={comment} rows={1} aria-label={t('stopComment')} placeholder={t('stopComment')} onChange={(event) => setComment(event.target.value)} className={`${inputClass} field-sizing-content max-h-32`} />
      <BarFoot>
        {given.problem !== null && <p role="alert" className="text-sm text-critical">{given.problem}</p>}
        <ButtonRow
          label={t('stopAnswers')}
          digits="press"
          isHeld={given.held || given.sending}
          buttons={[
            { label: t('stopContinue'), hint: t('stopContinueHint'), look: 'primary', onPress: () => decide('continue') },
            { label: t('stopRevise'), hint: t('stopReviseHint'), look: 'secondary', onPress: () => decide('revise') },
            { label: t('stopEnd'), hint: t('stopEndHint'), look: 'secondary', onPress: () => decide('end') },
          ]}
        />
      </BarFoot>
    </div>
  );
}

/** The approved steps that are still to do. */
function useOpenSteps(): number[] {
  const progress = useChatView(({ chat }) => chat.progress);
  const chosen = progress?.chosen_steps ?? null;
  return (progress?.steps ?? []).filter((step) => step.status !== 'done' && step.status !== 'skipped' && (chosen === null || chosen.includes(step.step_number))).map((step) => step.step_number);
}
