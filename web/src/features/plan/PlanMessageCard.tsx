import type { Message, Plan } from '@/lib/api/types';

export function PlanMessageCard({ message }: { message: Message }) {
  return <p>{(message.metadata.plan as Plan).goal}</p>;
}
