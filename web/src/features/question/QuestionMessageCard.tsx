import type { Message } from '@/lib/api/types';

export function QuestionMessageCard({ message }: { message: Message }) {
  return <p>{message.content}</p>;
}
