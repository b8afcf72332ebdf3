import type { Message } from '@/lib/api/types';

export function ToolResultCard({ message }: { message: Message }) {
  return (
    <details>
      <summary>{String(message.metadata.tool)}</summary>
      <pre>{message.content}</pre>
    </details>
  );
}
