// The press of Execute: what is asked before, what is sent.
import { useState } from 'react';
import { reviewApi } from '@/lib/api/review';
import { useChatIds } from '@/lib/chat/context';
import { type DriftedFile, useDrift } from '@/lib/chat/drift';
import { problemLine } from '@/lib/problems';
import type { PlanReview } from './review';
import type { RunChoice } from './run';

interface Order {
  choice: RunChoice;
  comment: string;
}

export function useRun({ shown, plan, draft }: Pick<PlanReview, 'shown' | 'plan' | 'draft'>, isHindered: boolean) {
  const { workspaceId, chatId } = useChatIds();
  const drift = useDrift(shown.sha256, false);
  const [starting, setStarting] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const [asking, setAsking] = useState<Order | null>(null);
  const [drifted, setDrifted] = useState<{ files: DriftedFile[]; order: Order } | null>(null);
  const start = async (order: Order, isAgreed = false) => {
    setAsking(null);
    setDrifted(null);
    setProblem(null);
    setStarting(true);
    try {
      const files = isAgreed ? [] : await drift.look();
      if (files.length > 0) return setDrifted({ files, order });
      const { steps, stopAfter } = order.choice;
      await reviewApi.execute(workspaceId, chatId, {
        plan_file: shown.planFile,
        plan_sha256: shown.sha256,
        ...(steps.length < plan.steps.length && { steps }),
        ...(stopAfter !== null && { stop_after: stopAfter }),
        ...(order.comment !== '' && { comment: order.comment }),
      });
      draft.clear();
    } catch (error) {
      setProblem(await problemLine(error));
    } finally {
      setStarting(false);
    }
  };
  const press = (order: Order) => {
    if (isHindered || starting || order.choice.steps.length === 0) return;
    if (draft.has) setAsking(order);
    else void start(order);
  };
  return { starting, problem, asking, drifted, press, start, back: () => (setAsking(null), setDrifted(null)) };
}
