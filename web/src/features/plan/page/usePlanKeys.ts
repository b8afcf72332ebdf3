import { useShortcuts } from '@/lib/keys';
import { useLetters } from '@/lib/letters';
import { focusStep } from './focusStep';
import type { PlanReview } from './review';
import { selectionIn } from './selection';

interface Actions {
  toggleOutline: () => void;
  toggleSkip: (step: number) => void;
  toggleStop: (step: number) => void;
  execute: () => void;
}

/** J and K go from step to step; the other keys are for the one that they have reached. */
export function usePlanKeys(review: PlanReview, { toggleOutline, toggleSkip, toggleStop, execute }: Actions): void {
  const { current, plan, draft, edits, mayComment, mayEdit, mayChoose } = review;
  const go = (to: number) => {
    const step = Math.min(Math.max(1, to), plan.steps.length);
    review.setCurrent(step);
    focusStep(step);
  };
  const isReached = () => document.activeElement?.closest('[data-step]') !== null;
  useLetters({
    j: () => go(isReached() ? current + 1 : current),
    k: () => go(isReached() ? current - 1 : current),
    o: toggleOutline,
    ...(mayComment && { c: () => draft.open(current, selectionIn(current)) }),
    ...(mayEdit && { e: () => edits.edit({ step: current }) }),
    ...(mayChoose && { s: () => toggleSkip(current), t: () => toggleStop(current) }),
  });
  useShortcuts({
    'Mod+Enter': execute,
    ...(mayEdit && { 'Alt+Shift+ArrowUp': () => void edits.move(current, current - 1), 'Alt+Shift+ArrowDown': () => void edits.move(current, current + 1) }),
  });
}
