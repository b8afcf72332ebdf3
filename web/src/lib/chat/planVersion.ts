// Which version of its plan a chat has.
import type { Message } from '@/lib/api/types';
import { useChatView } from './context';

interface PlanFacts {
  plan_file?: unknown;
  revision?: unknown;
}

/** The number of the newest version among these messages; null if they have none. */
export function planVersionIn(messages: readonly Pick<Message, 'message_type' | 'metadata'>[], planFile: string | null): number | null {
  const factsOf = ({ message_type, metadata }: Pick<Message, 'message_type' | 'metadata'>): PlanFacts | null => {
    if (message_type === 'plan') return metadata;
    return message_type === 'question' && metadata.kind === 'plan_approval' ? ((metadata.plan ?? null) as PlanFacts | null) : null;
  };
  if (planFile === null) return null;
  const newest = messages.findLast((message) => factsOf(message)?.plan_file === planFile);
  const revision = newest && factsOf(newest)?.revision;
  return typeof revision === 'number' ? revision : null;
}

export const usePlanVersion = (): number | null => useChatView((view) => planVersionIn(view.messages, view.chat.config.plan_file));
