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
  // On a phone the composer is one line until somebody writes in it.
  return <span className="contents max-sm:hidden max-sm:group-focus-within/composer:contents"><ModelChips workspaceId={workspaceId} mode={mode} picked={{ model, effort }} pick={(change) => void api.changeChat(workspaceId, chatId, change).catch(toastError)} /></span>;
}
