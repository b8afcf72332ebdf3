import { type KeyboardEvent, useState } from 'react';
import { Markdown } from '@/components/markdown/Markdown';
import { useText } from '@/i18n';
import { BarFoot } from './BarFrame';
import { ButtonRow } from './ButtonRow';
import { inputClass } from './fields/frame';
import type { useAnswering } from './useAnswering';
import type { QuestionView } from './view';

interface Props {
  view: QuestionView;
  given: ReturnType<typeof useAnswering>;
  /** Whether the plan is another than the one that the history shows last. */
  edited: boolean;
}

/** The plan's approval: what would be approved, the model's remark, and a place to say what should change instead. */
export function PlanApproval({ view, given, edited }: Props) {
  const t = useText('question');
  const [feedback, setFeedback] = useState('');
  const item = view.items[0];
  const plan = view.plan ?? {};
  const steps = Array.isArray(plan.steps) ? plan.steps : [];
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    // Feedback is never taken for approval.
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !event.nativeEvent.isComposing && feedback.trim() !== '') given.pick(false, feedback.trim());
  };
  if (item === undefined) return null;
  return (
    <div className="flex flex-col gap-3 bg-inherit">
      <div>
        <p className="font-semibold break-words">{String(plan.goal ?? '')}</p>
        <p className="text-sm break-words text-muted">
          {t('planSteps', { count: steps.length })} · {t('planOf', { file: String(plan.plan_file ?? ''), revision: Number(plan.revision ?? 1) })}
        </p>
      </div>
      {edited && <p className="rounded-sm border border-major bg-major-soft px-2 py-1 text-sm text-major">{t('planEdited')}</p>}
      {item.context !== undefined && (
        <div className="text-sm">
          <Markdown text={item.context} />
        </div>
      )}
      <textarea
        value={feedback}
        rows={1}
        aria-label={t('feedback')}
        placeholder={t('feedback')}
        onChange={(event) => setFeedback(event.target.value)}
        onKeyDown={onKeyDown}
        className={`${inputClass} field-sizing-content max-h-32`}
      />
      <BarFoot>
        {given.problem !== null && (
          <p role="alert" className="text-sm text-critical">
            {given.problem}
          </p>
        )}
        <ButtonRow
          label={item.text}
          digits="press"
          isHeld={given.held || given.sending}
          buttons={item.buttons.map((button) => ({
            label: button.label,
            look: button.value === true ? 'primary' : 'secondary',
            ...(button.value === true && { mode: 'act' as const }),
            onPress: () => given.pick(button.value, button.value === true ? undefined : feedback.trim() || undefined),
          }))}
        />
      </BarFoot>
    </div>
  );
}
