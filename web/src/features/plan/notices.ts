// What the user should know about a plan beside its text: drift, and an approval that no longer fits.
import type { Message } from '@/lib/api/types';
import { type DriftedFile, isDrifted } from '@/lib/chat/drift';

/** The files that were not as the plan had found them, when it was approved. */
function driftIn(message: Message): DriftedFile[] {
  const { drift } = message.metadata;
  if (!Array.isArray(drift)) return [];
  return drift.filter(isDrifted);
}

/** The drift that was found with the newest approval. */
export function newestDrift(messages: readonly Message[]): DriftedFile[] {
  const approval = messages.findLastIndex((message) => message.metadata.approval !== undefined);
  const after = approval < 0 ? [] : messages.slice(approval);
  return after.flatMap(driftIn);
}

export type PlanFileChange = 'edited' | 'deleted' | 'unreadable';

/** What happened to the plan's file since its approval; what is carried out is still the plan as it was approved. */
export function changeSinceApproval(messages: readonly Message[]): PlanFileChange | undefined {
  const approval = messages.findLastIndex((message) => message.metadata.approval !== undefined);
  const after = messages.slice(Math.max(0, approval));
  const told = after.findLast((message) => message.metadata.plan_changed !== undefined)?.metadata.plan_changed as { change?: unknown } | undefined;
  if (told !== undefined) return told.change === 'deleted' || told.change === 'unreadable' ? told.change : 'edited';
  // A step that could not be recorded says the same.
  return after.some((message) => message.message_type === 'tool_result' && errorCode(message) === 'APPROVAL_STALE') ? 'edited' : undefined;
}

function errorCode(message: Message): unknown {
  const { error } = message.metadata as { error?: { code?: unknown } };
  return error?.code;
}
