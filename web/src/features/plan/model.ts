// A plan as the server sends it, and what the page makes of it.
import type { Message, Plan as WirePlan, PlanStep as WireStep, StepStatus } from '@/lib/api/types';

/** A step of which every part is there, if only as an empty list. */
export type PlanStep = WireStep & Required<Pick<WireStep, 'files' | 'status'>>;
export type Plan = Omit<WirePlan, 'steps'> & Required<Pick<WirePlan, 'assumptions' | 'validation'>> & { steps: PlanStep[] };

/** One version of a chat's plan: a Plan message, or a card that shows the plan as it was edited by hand. */
export interface Revision {
  messageId: string;
  planFile: string;
  revision: number;
  sha256: string;
  plan: Plan;
  createdAt: string;
  /** Whether it was edited by hand. */
  isEdited: boolean;
  /** Whether only goal and steps are known: older cards tell no more. */
  isPartial: boolean;
}

/** What of a message the plan's view-model reads. */
interface PlanBearing {
  id: string;
  message_type: string;
  metadata: Record<string, unknown>;
  created_at: string;
}

export function readPlan(raw: unknown): Plan | undefined {
  if (!isRecord(raw) || typeof raw.goal !== 'string' || !Array.isArray(raw.steps)) return undefined;
  return {
    goal: raw.goal,
    steps: raw.steps.filter(isRecord).map(readStep),
    ...(typeof raw.estimated_total_time === 'string' && { estimated_total_time: raw.estimated_total_time }),
    risks: texts(raw.risks),
    prerequisites: texts(raw.prerequisites),
    assumptions: texts(raw.assumptions),
    validation: texts(raw.validation),
  };
}

function readStep(raw: Record<string, unknown>, index: number): PlanStep {
  return {
    step_number: typeof raw.step_number === 'number' ? raw.step_number : index + 1,
    action: text(raw.action),
    reason: text(raw.reason),
    tools_needed: texts(raw.tools_needed),
    ...(typeof raw.estimated_time === 'string' && { estimated_time: raw.estimated_time }),
    files: texts(raw.files),
    ...(typeof raw.verify === 'string' && { verify: raw.verify }),
    status: readStatus(raw.status),
  };
}

function readStatus(word: unknown): StepStatus {
  return word === 'in_progress' || word === 'done' || word === 'skipped' ? word : 'pending';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

/** Every version of the plan in the messages, oldest first. */
export function revisionsOf(messages: readonly PlanBearing[], planFile: string | null | undefined): Revision[] {
  const revisions: Revision[] = [];
  for (const message of messages) {
    const found = revisionIn(message);
    if (found === undefined || (planFile != null && found.planFile !== planFile)) continue;
    // The card of a plan that the history has already shown is the same version once more.
    if (revisions.at(-1)?.sha256 === found.sha256) continue;
    revisions.push(found);
  }
  return revisions;
}

export function revisionIn(message: PlanBearing): Revision | undefined {
  const { metadata } = message;
  const isCard = message.message_type === 'question' && metadata.kind === 'plan_approval';
  if (message.message_type !== 'plan' && !isCard) return undefined;
  const plan = readPlan(metadata.plan);
  const facts = isCard && isRecord(metadata.plan) ? metadata.plan : metadata;
  if (plan === undefined || typeof facts.plan_file !== 'string') return undefined;
  return {
    messageId: message.id,
    planFile: facts.plan_file,
    revision: typeof facts.revision === 'number' ? facts.revision : 1,
    sha256: text(facts.sha256),
    plan,
    createdAt: message.created_at,
    isEdited: isCard || metadata.edited === true,
    isPartial: isCard && isRecord(metadata.plan) && metadata.plan.risks === undefined,
  };
}

/** The approvals that the history records, by the content that was approved. */
export function approvedShas(messages: readonly PlanBearing[]): Set<string> {
  const approvals = messages.map((message) => message.metadata.approval).filter(isRecord);
  return new Set(approvals.map((approval) => text(approval.sha256)));
}

/** The plan with the status that each step has now. */
export function withProgress(plan: Plan, steps: readonly { step_number: number; status: StepStatus }[] | undefined): Plan {
  if (steps === undefined) return plan;
  const status = new Map(steps.map((step) => [step.step_number, step.status]));
  return { ...plan, steps: plan.steps.map((step) => ({ ...step, status: status.get(step.step_number) ?? step.status })) };
}

interface Progress {
  done: number;
  skipped: number;
  total: number;
  /** The step under way; else the next one to do. */
  current?: PlanStep;
}

export function progressOf(plan: Plan): Progress {
  const count = (status: StepStatus) => plan.steps.filter((step) => step.status === status).length;
  const current = plan.steps.find((step) => step.status === 'in_progress') ?? plan.steps.find((step) => step.status === 'pending');
  return { done: count('done'), skipped: count('skipped'), total: plan.steps.length, ...(current !== undefined && { current }) };
}

interface TakenBack {
  files?: { path: string; wanted: { kind?: string } }[];
}

/** Whether the newest that happened to a plan's file is that it was taken back to where it was not there. */
export function isTakenBack(messages: Message[], planFile: string): boolean {
  const newest = messages.findLast((one) => one.metadata.revert !== undefined || (one.message_type === 'plan' && one.metadata.plan_file === planFile));
  const files = (newest?.metadata.revert as TakenBack | undefined)?.files ?? [];
  return files.some((file) => file.path === planFile && file.wanted.kind === 'absent');
}

/** Why a plan can't be carried out now. */
export type ExecuteHindrance = 'viewer' | 'offline' | 'newer' | 'gone' | 'running' | 'executed' | 'question' | 'files';

interface ExecuteSituation {
  mayChange: boolean;
  online: boolean;
  /** Whether a newer version has taken this one's place. */
  newest: boolean;
  /** Whether its file was taken back. */
  gone: boolean;
  running: boolean;
  executed: boolean;
  /** Whether something else waits for an answer; the card of this very plan does not count. */
  otherQuestion: boolean;
  /** Whether the workspace requires plans to name their files, and this one names none. */
  lacksFiles: boolean;
}

export function executeHindrance(situation: ExecuteSituation): ExecuteHindrance | undefined {
  if (!situation.newest) return 'newer';
  if (situation.gone) return 'gone';
  if (situation.executed) return 'executed';
  if (!situation.mayChange) return 'viewer';
  if (!situation.online) return 'offline';
  if (situation.lacksFiles) return 'files';
  if (situation.otherQuestion) return 'question';
  if (situation.running) return 'running';
  return undefined;
}
