import type { PendingQuestion } from '@/lib/api/types';

export function ToolApproval({ question }: { question: PendingQuestion }) {
  return <p>{question.call?.reason}</p>;
}
