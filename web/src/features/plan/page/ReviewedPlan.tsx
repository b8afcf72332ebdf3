import { Plus } from 'lucide-react';
import { Fragment, lazy, Suspense, useEffect, useState } from 'react';
import { Button } from '@/components/Button';
import { Sheet } from '@/components/Modal';
import { useText } from '@/i18n';
import { useChatView } from '@/lib/chat/context';
import { useIsNarrow, useMedia } from '@/lib/layout';
import type { Revision } from '../model';
import { RevisionDiff } from '../RevisionDiff';
import { useHindrance } from '../usePlan';
import { PageHead } from './PageHead';
import { useComparison } from './useComparison';
import { PhoneCells } from './PhoneCells';
import { PlanBar } from './PlanBar';
import type { PlanPageParts } from './PlanPage';
import { PlanRail, type RailSection } from './PlanRail';
import { ReviewContext, type PlanReview } from './review';
import { StepForm } from './StepForm';
import { StepRow } from './StepRow';
import { StopMark } from './StopMark';
import { usePlanReview } from './usePlanReview';
import { focusStep } from './focusStep';
import { usePlanKeys } from './usePlanKeys';
import { useRun } from './useRun';
import { useActionsOf } from './useStepActions';

const PlanEditor = lazy(() => import('../PlanEditor'));

interface Props {
  revisions: Revision[];
  approved: Set<string>;
  shown: Revision;
  newest: Revision;
  show: (revision: Revision) => void;
  /** The step that the address names. */
  first: number | null;
  parts: PlanPageParts;
}

export function ReviewedPlan({ revisions, approved, shown, newest, show, first, parts }: Props) {
  const t = useText('planPage');
  const isPhone = useIsNarrow();
  const hasRail = useMedia('(min-width: 1280px)');
  const [file, setFile] = useState<string | null>(null);
  const [rail, setRail] = useState<RailSection | 'all' | null>(null);
  const comparison = useComparison(revisions, shown);
  const [isEditing, setEditing] = useState(false);
  const [isOutline, setOutline] = useState(false);
  const review = usePlanReview({ revisions, approved, shown, newest, isPhone, isOutline, preview: setFile });
  const hindrance = useHindrance(shown, newest, approved, review.plan);
  const run = useRun(review, hindrance !== undefined);
  const isActing = useChatView((view) => view.chat.config.agent_mode === 'act');
  const isAsked = useChatView(({ question }) => question !== null && question.kind !== 'plan_approval');
  const toggleOutline = () => setOutline(!isOutline);
  usePlanKeys(review, { toggleOutline, ...useActionsOf(review), execute: () => run.press({ choice: review.choice, comment: '' }) });
  const { setCurrent } = review;
  useEffect(() => {
    if (first === null) return;
    setCurrent(first);
    requestAnimationFrame(() => focusStep(first));
  }, [first, setCurrent]);
  return (
    <ReviewContext value={review}>
      <div className="flex h-full min-h-0 flex-col">
        <div className="flex min-h-0 flex-1">
          <div data-scroller className="min-w-0 flex-1 overflow-y-auto">
            <div className="plan-column">
              <PageHead revisions={revisions} show={show} comparison={comparison} toggleOutline={toggleOutline} editFile={() => setEditing(true)} {...(!hasRail && { openRail: () => setRail('all') })} />
              {isPhone && <PhoneCells open={setRail} />}
              {comparison?.isShown ? <RevisionDiff before={comparison.older} after={comparison.newer} /> : <Steps review={review} />}
            </div>
          </div>
          {hasRail && <aside aria-label={t('details')} tabIndex={0} className="plan-rail shrink-0 overflow-y-auto border-l"><PlanRail /></aside>}
        </div>
        {isAsked && <div className="plan-column flex max-h-[60dvh] shrink-0 flex-col pb-2">{parts.dock}</div>}
        <PlanBar hindrance={hindrance} run={run} isActing={isActing} />
      </div>
      {!hasRail && <Sheet isOpen={rail !== null} close={() => setRail(null)} title={t('details')} side={isPhone ? 'bottom' : 'right'}><PlanRail only={rail === 'all' || rail === null ? undefined : rail} /></Sheet>}
      <Sheet isOpen={file !== null} close={() => setFile(null)} title={t('preview')} side={isPhone ? 'bottom' : 'right'}>{file !== null && <Preview path={file} review={review} FileView={parts.FileView} close={() => setFile(null)} />}</Sheet>
      {isEditing && <Suspense><PlanEditor planFile={shown.planFile} close={() => setEditing(false)} /></Suspense>}
    </ReviewContext>
  );
}

function Preview({ path, review, FileView, close }: { path: string; review: PlanReview; FileView: PlanPageParts['FileView']; close: () => void }) {
  const t = useText('planPage');
  if (review.signOf(path) === 'new') return <div className="p-4"><code className="plan-path">{path}</code><p className="mt-2 text-fg2">{t('notThere')}</p></div>;
  return <FileView path={path} line={null} back={close} />;
}

function Steps({ review }: { review: PlanReview }) {
  const t = useText('planPage');
  const { plan, edits, choice, mayEdit } = review;
  const after = edits.editing !== null && 'after' in edits.editing ? edits.editing.after : null;
  const fresh = <li className="rounded-md bg-surface px-4 py-3"><h3 className="font-semibold">{t('addStep')}</h3><StepForm /></li>;
  return (
    <>
      <ol aria-label={t('steps')} className="border-y">
        {plan.steps.map((step) => (
          <Fragment key={step.step_number}>
            <StepRow step={step} />
            {choice.stopAfter === step.step_number && <StopMark step={step.step_number} />}
            {after === step.step_number && fresh}
          </Fragment>
        ))}
      </ol>
      {mayEdit && <div className="py-3 max-sm:px-4"><Button look="quiet" onClick={() => edits.edit({ after: plan.steps.length })}><Plus className="size-4" aria-hidden="true" />{t('addStep')}</Button></div>}
    </>
  );
}
