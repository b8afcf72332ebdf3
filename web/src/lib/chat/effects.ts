// When files may have changed.
import type { Message } from '@/lib/api/types';
import { useChatView } from './context';

/** Changes whenever the chat may have changed files: the id of the newest message with an effect. */
function effectsOf(messages: Message[]): string {
  const newest = messages.findLast((one) => one.message_type === 'tool_result' || one.metadata.revert !== undefined || one.metadata.approval !== undefined);
  const revert = newest?.metadata.revert as { status?: string } | undefined;
  return `${newest?.id ?? ''}${revert?.status ?? ''}`;
}

export const useEffects = (): string => useChatView((view) => effectsOf(view.messages));
