import { ChevronDown, ChevronUp, FileText } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useMemo, useState } from 'react';
import { Markdown } from '@/components/markdown/Markdown';
import { Words } from '@/components/Words';
import { useLocale, useText } from '@/i18n';
import type { Message } from '@/lib/api/types';
import { spoken } from '@/lib/time';
import { PlanActions } from './PlanActions';
import { PlanLists } from './PlanLists';
import { RevisionDiff } from './RevisionDiff';
import { StepList } from './StepList';
import { type Revision, revisionIn } from './model';
import { useFeedback } from './useFeedback';
import { useLivePlan, useMayRevise, useRevisions } from './usePlan';

/** A plan in the history. A version that a newer one has replaced is folded. */
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
  const locale = useLocale((state) => state.locale);
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
  const isOpen = open ?? (isNewest || problem !== null);
  const Fold = isOpen ? ChevronUp : ChevronDown;
  return (
    <article
      aria-label={`${t('version', { revision: revision.revision })}: ${plan.goal}`}
      data-plan={revision.revision}
      onKeyDown={executeOnKey}
      className="overflow-clip rounded-lg border border-plan/45 bg-bg"
    >
      <header className="flex items-start gap-2.5 bg-plan-soft px-4 py-3">
        <FileText className="mt-0.5 size-4 shrink-0 text-plan" aria-hidden="true" />
        <div className="min-w-0 flex-1">
          <p className="text-xs break-words text-muted">
            <span className="font-semibold tracking-wide text-plan uppercase">{t('version', { revision: revision.revision })}</span>
            {'  '}
            {revision.planFile}
            {plan.estimated_total_time !== undefined && <span className="whitespace-nowrap"> · {t('about', { time: spoken(locale, plan.estimated_total_time) })}</span>}
            {revision.isEdited && ` · ${t('edited')}`}
            {!isNewest && ` · ${t('older')}`}
          </p>
          <h2 className="font-semibold break-words"><Words text={plan.goal} /></h2>
        </div>
        <button type="button" onClick={() => setOpen(!isOpen)} aria-expanded={isOpen} aria-label={isOpen ? t('hideSteps') : t('showSteps')} className="inline-flex size-7 items-center justify-center rounded-sm text-muted hover:text-fg pointer-coarse:size-11">
          <Fold className="size-4" aria-hidden="true" />
        </button>
      </header>
      {isOpen && (
        <>
          {comparing && previous !== undefined ? (
            <RevisionDiff before={previous} after={revision} />
          ) : (
            <Whole>
              <StepList steps={plan.steps} {...(isNewest && planning && { feedback })} />
              <PlanLists plan={plan} />
            </Whole>
          )}
          <PlanActions
            revision={revision}
            newest={newest}
            plan={plan}
            approved={approved}
            feedback={feedback}
            problem={problem}
            onProblem={setProblem}
            {...(previous !== undefined && { comparison: { against: previous.revision, shown: comparing, toggle: () => setComparing(!comparing) } })}
          />
        </>
      )}
    </article>
  );
}

function Whole({ children }: { children: ReactNode }) {
  return <div className="border-t border-plan/25">{children}</div>;
}

/** Ctrl+Enter with the focus anywhere in the card. */
function executeOnKey(event: KeyboardEvent<HTMLElement>): void {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.nativeEvent.isComposing) return;
  if (event.target instanceof HTMLTextAreaElement) return;
  event.preventDefault();
  event.currentTarget.querySelector<HTMLButtonElement>('[data-execute]')?.click();
}
