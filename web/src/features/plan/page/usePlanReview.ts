// Puts together what the parts of the plan's page share.
import { useMemo, useState } from 'react';
import { useChatIds, useChatView } from '@/lib/chat/context';
import { isBusy } from '@/lib/chat/view';
import type { Revision } from '../model';
import { useLivePlan, useMayRevise } from '../usePlan';
import { useDraft } from '@/lib/chat/planDrafts';
import { useFindings } from './findings';
import { notesOf } from './notes';
import type { PlanReview } from './review';
import { choiceOf } from './run';
import { useEdits } from './useEdits';
import { useFileSigns } from './useFileSigns';

interface Given extends Pick<PlanReview, 'shown' | 'newest' | 'isPhone' | 'isOutline' | 'preview'> {
  revisions: Revision[];
  approved: Set<string>;
}

export function usePlanReview({ revisions, approved, ...given }: Given): PlanReview {
  const { shown, newest, isPhone } = given;
  const { chatId } = useChatIds();
  const plan = useLivePlan(shown, approved);
  const draft = useDraft(chatId, plan);
  const [current, setCurrent] = useState(isPhone ? 0 : 1);
  const isRunning = useChatView(isBusy);
  const isPlanning = useMayRevise();
  const isNewest = shown === newest;
  const messages = useChatView((view) => view.messages);
  const notes = useMemo(() => notesOf(messages, revisions, shown), [messages, revisions, shown]);
  const edits = useEdits(newest, draft, setCurrent);
  const findings = useFindings(newest, draft.dismissed);
  const signOf = useFileSigns(plan, !approved.has(shown.sha256));
  const excluded = useExcluded(shown, approved);
  const isOver = plan.steps.every((step) => step.status === 'done' || step.status === 'skipped');
  return {
    ...given,
    isNewest,
    plan,
    draft,
    choice: choiceOf(plan.steps, draft.skippedSteps, draft.stopStep),
    excluded,
    findings: isNewest ? findings : [],
    notes,
    edits,
    mayComment: isNewest && isPlanning,
    mayEdit: isNewest && isPlanning && !isRunning && !shown.isPartial,
    mayChoose: isNewest && !isRunning && !isOver,
    current,
    setCurrent,
    signOf,
  };
}

/** The steps that the run under way does not have. */
function useExcluded(shown: Revision, approved: Set<string>): ReadonlySet<number> {
  const progress = useChatView((view) => view.chat.progress);
  const isActing = useChatView((view) => view.chat.config.agent_mode === 'act');
  return useMemo(() => {
    const steps = progress?.chosen_steps ?? null;
    if (!isActing || !approved.has(shown.sha256) || !steps) return new Set<number>();
    const chosen = new Set(steps);
    return new Set(shown.plan.steps.map((step) => step.step_number).filter((step) => !chosen.has(step)));
  }, [progress, isActing, approved, shown]);
}
