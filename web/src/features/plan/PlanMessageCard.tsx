import { ArrowRight, ChevronDown, ChevronUp, ListChecks } from 'lucide-react';
import { type KeyboardEvent, useMemo, useState } from 'react';
import { Markdown } from '@/components/markdown/Markdown';
import { useText } from '@/i18n';
import type { Message } from '@/lib/api/types';
import { PlanActions } from './PlanActions';
import { PlanHead } from './PlanHead';
import { PlanLists } from './PlanLists';
import { RevisionDiff } from './RevisionDiff';
import { StepList } from './StepList';
import { type Revision, revisionIn } from './model';
import { useFeedback } from './useFeedback';
import { useIsBeside, useLivePlan, useMayRevise, useRevisions } from './usePlan';

/** A plan in the history. It folds to its head when a newer version has replaced it, or the panel shows it. */
export function PlanMessageCard({ message }: { message: Message }) {
  const revision = useMemo(() => revisionIn(message), [message]);
  if (revision === undefined) return <Markdown text={message.content} />;
  // A plan that the model wrote into its answer may have words around it; else the content is the goal.
  const prose = message.content === revision.plan.goal || message.author === 'system' ? '' : message.content;
  return (
    <div className="flex flex-col gap-3">
      {prose !== '' && <Markdown text={prose} />}
      <Card revision={revision} />
    </div>
  );
}

function Card({ revision }: { revision: Revision }) {
  const t = useText('plan');
  const { revisions, approved } = useRevisions(revision.planFile);
  const newest = revisions.at(-1) ?? revision;
  const isNewest = newest.sha256 === revision.sha256;
  const previous = revisions[revisions.findIndex((one) => one.messageId === revision.messageId) - 1];
  const plan = useLivePlan(revision, approved);
  const feedback = useFeedback(revision);
  const planning = useMayRevise();
  const [open, setOpen] = useState<boolean>();
  const [comparing, setComparing] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const isBeside = useIsBeside(revision.planFile) && isNewest;
  const isOpen = open ?? ((isNewest && !isBeside) || problem !== null);
  const Fold = isOpen ? ChevronUp : ChevronDown;
  return (
    <article
      aria-label={`${t('version', { revision: revision.revision })}: ${plan.goal}`}
      data-plan={revision.revision}
      onKeyDown={executeOnKey}
      className="overflow-clip rounded-lg border border-line2 bg-bg"
    >
      <header className="flex items-start gap-2.5 px-4 py-3">
        <ListChecks className="mt-1 size-4 shrink-0 text-fg2" aria-hidden="true" />
        <PlanHead revision={revision} plan={plan} isOlder={!isNewest} />
        {isBeside && <span className="flex shrink-0 items-center gap-1 self-center text-xs text-muted">{t('beside')}<ArrowRight className="size-3.5" aria-hidden="true" /></span>}
        <button type="button" onClick={() => setOpen(!isOpen)} aria-expanded={isOpen} aria-label={isOpen ? t('hideSteps') : t('showSteps')} className="-my-1 inline-flex size-7 items-center justify-center self-center rounded-sm text-muted hover:text-fg pointer-coarse:size-11">
          <Fold className="size-4" aria-hidden="true" />
        </button>
      </header>
      {isOpen && (
        <>
          {comparing && previous !== undefined ? (
            <RevisionDiff before={previous} after={revision} />
          ) : (
            <div className="border-t">
              <StepList steps={plan.steps} {...(isNewest && planning && { feedback })} />
              <PlanLists plan={plan} />
            </div>
          )}
          <PlanActions
            revision={revision}
            newest={newest}
            plan={plan}
            approved={approved}
            feedback={feedback}
            problem={problem}
            onProblem={setProblem}
            hasProgress
            isBeside={isBeside}
            {...(previous !== undefined && { comparison: { against: previous.revision, shown: comparing, toggle: () => setComparing(!comparing) } })}
          />
        </>
      )}
    </article>
  );
}

/** Ctrl+Enter with the focus anywhere in the card. */
function executeOnKey(event: KeyboardEvent<HTMLElement>): void {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.nativeEvent.isComposing) return;
  if (event.target instanceof HTMLTextAreaElement) return;
  event.preventDefault();
  event.currentTarget.querySelector<HTMLButtonElement>('[data-execute]')?.click();
}
