import { ModelChips } from '@/components/ModelChips';
import { api } from '@/lib/api/client';
import { useChatIds, useChatView } from '@/lib/chat/context';
import { toastError } from '@/lib/toast';

/** The model and the effort of this chat; the server's event shows what holds. */
export function ChatModelChips() {
  const { workspaceId, chatId } = useChatIds();
  const mode = useChatView((view) => view.chat.config.agent_mode);
  const model = useChatView((view) => view.chat.model);
  const effort = useChatView((view) => view.chat.effort);
  return <ModelChips workspaceId={workspaceId} mode={mode} picked={{ model, effort }} pick={(change) => void api.changeChat(workspaceId, chatId, change).catch(toastError)} />;
}
