// Whether the approval of a chat's plan is still valid, from the history.

/** The parts of a message that this reads. */
interface Recorded {
  id: string;
  author: string;
  message_type: string;
  metadata: Record<string, unknown>;
}

type Lapse = 'revised' | 'takenBack';

/** Why the last approval is no longer valid: the plan has a newer version, or changes were reverted to before it. */
export function lapseOfApproval(messages: readonly Recorded[]): Lapse | undefined {
  const given = messages.findLastIndex((message) => message.author === 'system' && isRecord(message.metadata.approval));
  const approval = messages[given]?.metadata.approval;
  if (!isRecord(approval)) return undefined;
  const since = messages.slice(given + 1);
  const newest = since.findLast(({ message_type, metadata }) => message_type === 'plan' && metadata.plan_file === approval.plan_file);
  if (newest && newest.metadata.sha256 !== approval.sha256) return 'revised';
  const later = new Set<unknown>(since.map((message) => message.id));
  const isBack = ({ author, metadata }: Recorded) => author === 'system' && isRecord(metadata.revert) && !later.has(metadata.revert.message_id);
  return since.some(isBack) ? 'takenBack' : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
