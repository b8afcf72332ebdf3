import type { Message } from '@/lib/api/types';

export function TextMessage({ message }: { message: Message }) {
  return <p className="whitespace-pre-wrap">{message.content}</p>;
}
