import { CircleAlert, Clock, LoaderCircle, RotateCcw, X } from 'lucide-react';
import { Link } from 'wouter';
import { Button } from '@/components/Button';
import { IconButton } from '@/components/IconButton';
import { useText } from '@/i18n';
import { api } from '@/lib/api/client';
import type { Problem } from '@/lib/api/types';
import { lapseOfApproval } from '@/lib/chat/approval';
import { useChatIds, useChatView } from '@/lib/chat/context';
import { useChatStore } from '@/lib/chat/store';
import { isBusy } from '@/lib/chat/view';
import { useExplain } from '@/lib/problems';
import { useRoleWords } from '@/lib/roles';
import { toastError } from '@/lib/toast';
import { useRules } from '@/lib/workspaces';

/** What the run is doing, in one line above the composer. */
export function RunStatus() {
  const t = useText('chat');
  const { title } = useRoleWords();
  const state = useChatView((view) => view.chat.state);
  const role = useChatView((view) => view.chat.config.agent_role);
  const isWorking = useChatView(isBusy);
  const isWriting = useChatView((view) => Object.values(view.live).some((one) => one.text !== ''));
  const isOffline = useChatStore((store) => store.connection === 'offline');
  if (!isWorking) return <RunEnd />;
  // A streaming answer needs no status, and an unknown state shows none.
  if ((isWriting && state !== 'stopping') || isOffline) return null;
  return (
    <p className="flex items-center gap-2 px-1 pb-1.5 text-sm text-muted">
      <LoaderCircle size={14} aria-hidden className="text-mode motion-safe:animate-spin" />
      {t(state, { role: title(role) })}
    </p>
  );
}

function RunProblem({ problem }: { problem: Problem }) {
  const { title, detail } = useExplain()(problem);
  return <p className="break-words">{title}{detail && <span className="block text-fg2">{detail}</span>}</p>;
}

/** How the last run ended, when it did not end well. */
function RunEnd() {
  const t = useText('chat');
  const common = useText('common');
  const { workspaceId, chatId } = useChatIds();
  const run = useChatView((view) => view.lastRun);
  if (run?.error) {
    const retry = () => void api.retry(workspaceId, chatId).catch(toastError);
    return (
      <div role="alert" className="mb-2 flex items-start gap-2.5 rounded-lg border border-critical-line px-3 py-2">
        <CircleAlert size={15} aria-hidden className="mt-0.5 shrink-0 text-critical" />
        <div className="min-w-0 flex-1">
          <RunProblem problem={run.error} />
          {run.error.code.startsWith('PROVIDER_') && <Link href="/settings/models" className="underline underline-offset-2">{t('setUp')}</Link>}
        </div>
        <Button onClick={retry} className="shrink-0"><RotateCcw size={14} aria-hidden />{common('retry')}</Button>
      </div>
    );
  }
  if (!run || run.openSteps.length === 0) return null;
  return <p className="px-1 pb-1.5 text-sm text-muted">{t('openSteps', { steps: run.openSteps.join(', ') })}</p>;
}

/** That nothing can change before a plan is approved, and why, where the workspace requires a plan and none in force has open steps. */
export function PlanRequired() {
  const t = useText('switching');
  const isRequired = useRules(useChatIds().workspaceId).data?.policy.act_requires_plan;
  const why = useChatView(({ chat: { config, progress }, messages }) => {
    if (config.agent_mode !== 'act') return undefined;
    const lapse = lapseOfApproval(messages);
    if (lapse) return lapse === 'revised' ? 'planRevised' : 'planTakenBack';
    return progress && progress.done + progress.skipped < progress.total ? undefined : 'planRequired';
  });
  return isRequired && why ? <p role="note" className="px-1 pb-1.5 text-sm text-major">{t(why)}</p> : null;
}

/** What was said while the run was busy, until it is read. */
export function QueueChips() {
  const t = useText('chat');
  const { workspaceId, chatId } = useChatIds();
  const queued = useChatView((view) => view.queued);
  const messages = useChatView((view) => view.messages);
  if (queued.length === 0) return null;
  return (
    <ul aria-label={t('queued')} className="mb-1.5 flex flex-wrap gap-1.5">
      {messages.filter((message) => queued.includes(message.id)).map((message) => (
        <li key={message.id} className="flex max-w-full items-center gap-1.5 rounded-sm pr-1 pl-1 text-fg2">
          <Clock size={12} aria-label={t('queued')} className="shrink-0 text-muted" />
          <span className="truncate">{message.content}</span>
          <IconButton label={t('takeBack')} className="size-6" onClick={() => void api.unqueue(workspaceId, chatId, message.id).catch(toastError)}>
            <X size={12} aria-hidden />
          </IconButton>
        </li>
      ))}
    </ul>
  );
}
