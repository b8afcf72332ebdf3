import { Words } from '@/components/Words';
import { useText } from '@/i18n';
import { useChatView } from '@/lib/chat/context';
import { StepMark } from './StepList';
import { type Revision, progressOf } from './model';
import { useLivePlan, useRevisions } from './usePlan';

/** Above the composer while a plan is carried out: how far it has come, and the step under way. */
export function ProgressDock() {
  const acting = useChatView((view) => view.chat.config.agent_mode === 'act' && view.chat.progress !== null);
  return acting ? <Running /> : null;
}

function Running() {
  const { revisions, approved } = useRevisions();
  const carried = revisions.findLast((revision) => approved.has(revision.sha256));
  return carried === undefined ? null : <Line revision={carried} approved={approved} />;
}

function Line({ revision, approved }: { revision: Revision; approved: Set<string> }) {
  const t = useText('plan');
  const plan = useLivePlan(revision, approved);
  const { done, skipped, total, current } = progressOf(plan);
  return (
    <div role="status" aria-label={t('progress')} data-progress className="flex min-w-0 items-center gap-2 px-1 pb-1.5 text-fg2">
      <span className="text-xs whitespace-nowrap text-muted">{t('doneOf', { done, total })}{skipped > 0 && `, ${t('skippedToo', { skipped })}`}</span>
      <StepMark status={current?.status ?? 'done'} />
      <span className="min-w-0 truncate">{current === undefined ? t('allDone') : <Words text={t('nowStep', { step: current.step_number, action: current.action })} />}</span>
    </div>
  );
}
