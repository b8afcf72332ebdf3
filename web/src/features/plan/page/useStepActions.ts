import { useText } from '@/i18n';
import { announce } from '@/lib/announce';
import { useReview, type PlanReview } from './review';

export function useStepActions() {
  return useActionsOf(useReview());
}

/** What the next run does with a step; a screen reader is told. */
export function useActionsOf({ draft }: Pick<PlanReview, 'draft'>) {
  const t = useText('planPage');
  return {
    toggleSkip: (step: number) => {
      const isSkipped = draft.skippedSteps.has(step);
      draft.setSkipped(isSkipped ? [...draft.skippedSteps].filter((one) => one !== step) : [...draft.skippedSteps, step]);
      if (!isSkipped && draft.stopStep === step) draft.setStop(null);
      announce(isSkipped ? t('includedNow', { step }) : t('skippedNow', { step }));
    },
    toggleStop: (step: number) => {
      const isStop = draft.stopStep === step;
      draft.setStop(isStop ? null : step);
      announce(isStop ? t('stopGone') : t('stopNow', { step }));
    },
  };
}
