import { useMemo } from 'react';
import { useChatIds, useChatView } from '@/lib/chat/context';
import { useChatStore } from '@/lib/chat/store';
import { isBusy } from '@/lib/chat/view';
import { useIsPanelOpen, useLayout } from '@/lib/layout';
import { useMayChange } from '@/lib/rights';
import { useRules } from '@/lib/workspaces';
import { type ExecuteHindrance, type Plan, type Revision, approvedShas, executeHindrance, isTakenBack, revisionsOf, withProgress } from './model';

/** The chat's plan in all its versions, oldest first. */
export function useRevisions(planFile?: string): { revisions: Revision[]; approved: Set<string> } {
  const messages = useChatView((view) => view.messages);
  const current = useChatView((view) => view.chat.config.plan_file);
  const file = planFile ?? current;
  return useMemo(() => ({ revisions: revisionsOf(messages, file), approved: approvedShas(messages) }), [messages, file]);
}

/** A version with the status that its steps have now, if it is the one that is carried out. */
export function useLivePlan(revision: Revision, approved: Set<string>): Plan {
  const progress = useChatView((view) => view.chat.progress);
  const live = progress?.plan_file === revision.planFile && approved.has(revision.sha256);
  return useMemo(() => (live ? withProgress(revision.plan, progress.steps) : revision.plan), [live, revision.plan, progress]);
}

/** Whether the panel shows this plan, so that the card need not. */
export function useIsBeside(planFile: string): boolean {
  const current = useChatView((view) => view.chat.config.plan_file);
  const isPlanTab = useLayout((state) => state.panelTab === 'plan');
  return useIsPanelOpen(current !== null) && isPlanTab && current === planFile;
}

/** Whether the plan can be talked about: the chat plans, and the user may speak in it. */
export function useMayRevise(): boolean {
  const mayChange = useMayChange(useChatIds().workspaceId);
  return useChatView((view) => view.chat.config.agent_mode === 'plan') && mayChange;
}

/** Why this version can't be carried out now; nothing when it can. */
export function useHindrance(revision: Revision, newest: Revision, approved: Set<string>, plan: Plan): ExecuteHindrance | undefined {
  const { workspaceId } = useChatIds();
  const mayChange = useMayChange(workspaceId);
  const lacksFiles = useRules(workspaceId).data?.policy.plan_requires_files === true && plan.steps.every((step) => step.files.length === 0);
  const online = useChatStore((state) => state.connection !== 'offline');
  const running = useChatView(isBusy);
  const otherQuestion = useChatView(({ question }) => question !== null && question.kind !== 'plan_approval');
  const executed = approved.has(revision.sha256) && plan.steps.every((step) => step.status === 'done' || step.status === 'skipped');
  const gone = useChatView(({ messages }) => isTakenBack(messages, revision.planFile));
  return executeHindrance({ mayChange, online, gone, newest: newest.sha256 === revision.sha256, running, executed, otherQuestion, lacksFiles });
}
