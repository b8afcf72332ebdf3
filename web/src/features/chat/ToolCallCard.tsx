import type { Message } from '@/lib/api/types';
import { useChatView } from '@/lib/chat/context';
import { useSlots } from './slots';

export function ToolCallCard({ message }: { message: Message }) {
  const { ToolApproval } = useSlots();
  const callId = message.metadata.call_id;
  const question = useChatView((view) => (view.question?.call?.call_id === callId ? view.question : null));
  return (
    <div>
      <code>{String(message.metadata.tool)}</code>
      {question && <ToolApproval question={question} />}
    </div>
  );
}
