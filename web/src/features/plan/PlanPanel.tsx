import { FileText, History, Pencil } from 'lucide-react';
import { Suspense, lazy, useState } from 'react';
import { Button } from '@/components/Button';
import { Notice } from '@/components/Notice';
import { DriftNotice } from '@/components/Warning';
import { useText } from '@/i18n';
import { useChatIds, useChatView } from '@/lib/chat/context';
import { useDrift } from '@/lib/chat/drift';
import { loadOlder } from '@/lib/chat/store';
import { useMayChange } from '@/lib/rights';
import { StaleNotice } from './Notices';
import { PlanActions } from './PlanActions';
import { PlanHead } from './PlanHead';
import { PlanLists } from './PlanLists';
import { ProgressBar } from './ProgressBar';
import { RevisionDiff } from './RevisionDiff';
import { RevisionPicker } from './RevisionPicker';
import { StepList } from './StepList';
import { type Revision, progressOf } from './model';
import { changeSinceApproval, newestDrift } from './notices';
import { useFeedback } from './useFeedback';
import { useLivePlan, useMayRevise, useRevisions } from './usePlan';

const PlanEditor = lazy(() => import('./PlanEditor'));

/** The chat's plan beside the chat: every version, what changed between them, how far it has come. */
export function PlanPanel() {
  const t = useText('plan');
  const { revisions, approved } = useRevisions();
  const [chosen, setChosen] = useState<string>();
  const newest = revisions.at(-1);
  if (newest === undefined) return <Notice icon={<FileText aria-hidden="true" />} title={t('empty')} hint={t('emptyHint')} />;
  const shown = revisions.find((revision) => revision.messageId === chosen) ?? newest;
  return <Shown key={shown.messageId} revisions={revisions} shown={shown} newest={newest} approved={approved} onShow={(revision) => setChosen(revision.messageId)} />;
}

interface Props {
  revisions: Revision[];
  shown: Revision;
  newest: Revision;
  approved: Set<string>;
  onShow: (revision: Revision) => void;
}

function Shown({ revisions, shown, newest, approved, onShow }: Props) {
  const t = useText('plan');
  const plan = useLivePlan(shown, approved);
  const feedback = useFeedback(shown);
  const planning = useMayRevise();
  const mayChange = useMayChange(useChatIds().workspaceId);
  const [against, setAgainst] = useState<Revision>();
  const [editing, setEditing] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const isNewest = shown === newest;
  const { done, total } = progressOf(plan);
  return (
    <section aria-label={t('title')} className="flex min-h-full min-w-0 flex-col">
      <header className="flex flex-col gap-2 px-4 pb-1">
        <PlanHead revision={shown} plan={plan} />
        {approved.has(shown.sha256) && <ProgressBar plan={plan} />}
        <div className="flex flex-wrap items-center justify-between gap-2 text-xs text-muted">
          <span>
            {t('doneOf', { done, total })}{t('comma')}<StatusWord revision={shown} newest={newest} approved={approved} finished={done === total} />
          </span>
          {isNewest && mayChange && (
            <Button look="quiet" className="-my-1 -mr-2 px-2" onClick={() => setEditing(true)}>
              <Pencil className="size-3.5" aria-hidden="true" />
              {t('edit')}
            </Button>
          )}
        </div>
        <PanelNotices shown={shown} revisions={revisions} approved={approved} />
        {revisions.length > 1 && <RevisionPicker revisions={revisions} shown={shown} onShow={onShow} against={against} onCompare={setAgainst} />}
        <Earlier />
      </header>
      <div className="flex-1">
        {against !== undefined ? (
          <RevisionDiff before={against} after={shown} />
        ) : (
          <>
            <StepList steps={plan.steps} {...(isNewest && planning && { feedback })} />
            <PlanLists plan={plan} />
          </>
        )}
      </div>
      <div className="sticky bottom-0 bg-bg">
        <PlanActions revision={shown} newest={newest} plan={plan} approved={approved} feedback={feedback} problem={problem} onProblem={setProblem} />
      </div>
      {editing && (
        <Suspense>
          <PlanEditor planFile={shown.planFile} close={() => setEditing(false)} />
        </Suspense>
      )}
    </section>
  );
}

function StatusWord({ revision, newest, approved, finished }: { revision: Revision; newest: Revision; approved: Set<string>; finished: boolean }) {
  const t = useText('plan');
  if (approved.has(revision.sha256)) return finished ? t('done') : t('approved');
  return revision === newest ? t('draft') : t('older');
}

function PanelNotices({ shown, revisions, approved }: { shown: Revision; revisions: Revision[]; approved: Set<string> }) {
  const t = useText('plan');
  const messages = useChatView((view) => view.messages);
  const acting = useChatView((view) => view.chat.config.agent_mode === 'act');
  const isOpen = !acting && revisions.at(-1) === shown;
  const before = useDrift(shown.sha256, isOpen).files;
  const after = acting ? newestDrift(messages) : [];
  const change = changeSinceApproval(messages);
  const carried = revisions.findLast((revision) => approved.has(revision.sha256));
  const isNewer = carried !== undefined && revisions.indexOf(shown) > revisions.indexOf(carried);
  return (
    <>
      {acting && change !== undefined && <StaleNotice change={change} />}
      {acting && isNewer && <p className="text-sm text-major">{t('approvedVersion', { revision: carried.revision })}</p>}
      {before.length > 0 && <DriftNotice files={before} isOver={false} />}
      {after.length > 0 && <DriftNotice files={after} isOver />}
    </>
  );
}

/** Versions in messages that have not been loaded. */
function Earlier() {
  const t = useText('plan');
  const { workspaceId, chatId } = useChatIds();
  const hasOlder = useChatView((view) => view.hasOlder);
  if (!hasOlder) return null;
  return (
    <Button look="quiet" className="self-start" onClick={() => void loadOlder(workspaceId, chatId)}>
      <History className="size-4" aria-hidden="true" />
      {t('loadEarlier')}
    </Button>
  );
}
