import { GitCompare } from 'lucide-react';
import { useState } from 'react';
import { Button } from '@/components/Button';
import { useText } from '@/i18n';
import { useChatIds } from '@/lib/chat/context';
import { useMayChange } from '@/lib/rights';
import { ExecuteButton } from './ExecuteButton';
import { FeedbackFooter } from './FeedbackFooter';
import { type Plan, type Revision, progressOf } from './model';
import type { useFeedback } from './useFeedback';
import { useHindrance, useMayRevise } from './usePlan';

interface Props {
  revision: Revision;
  newest: Revision;
  plan: Plan;
  approved: Set<string>;
  feedback: ReturnType<typeof useFeedback>;
  /** What did not work. The caller keeps it, because a new version may fold these away before the answer is there. */
  problem: string | null;
  onProblem: (problem: string | null) => void;
  /** Whether nothing else beside it tells how far the plan has come. */
  hasProgress?: boolean;
  /** The panel has the buttons; here is only what it lacks. */
  isBeside?: boolean;
  comparison?: { against: number; shown: boolean; toggle: () => void };
}

/** What can be done with a version: execute it, have it revised, see what it changed. */
export function PlanActions({ revision, newest, plan, approved, feedback, problem, onProblem, comparison, hasProgress = false, isBeside = false }: Props) {
  const t = useText('plan');
  const hindrance = useHindrance(revision, newest, approved, plan);
  const planning = useMayRevise();
  const mayChange = useMayChange(useChatIds().workspaceId);
  const [revising, setRevising] = useState(false);
  const { done, skipped, total } = progressOf(plan);
  const isNewest = newest.sha256 === revision.sha256;
  return (
    <footer className="flex flex-wrap items-center gap-2 border-t px-4 py-3 empty:hidden">
      {!isBeside && <ExecuteButton revision={revision} newest={newest} hindrance={hindrance} feedback={feedback} onProblem={onProblem} />}
      {!isBeside && isNewest && mayChange && (
        <Button aria-disabled={!planning} title={planning ? undefined : t('reviseAct')} onClick={() => planning && setRevising(true)}>
          {t('revise')}
        </Button>
      )}
      {comparison !== undefined && (
        <Button look="quiet" aria-pressed={comparison.shown} onClick={comparison.toggle}>
          <GitCompare className="size-4" aria-hidden="true" />
          {comparison.shown ? t('hideChanges') : t('showChanges', { revision: comparison.against })}
        </Button>
      )}
      {hasProgress && approved.has(revision.sha256) && (
        <span className="ml-auto text-xs text-muted">
          {t('doneOf', { done, total })}
          {skipped > 0 && `, ${t('skippedToo', { skipped })}`}
        </span>
      )}
      {problem !== null && (
        <p role="alert" className="w-full text-sm text-critical">
          {problem}
        </p>
      )}
      {isNewest && planning && revising && <FeedbackFooter feedback={feedback} onSent={() => setRevising(false)} onProblem={onProblem} />}
    </footer>
  );
}
