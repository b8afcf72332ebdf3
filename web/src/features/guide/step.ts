// Where the demo stands, told from the chat alone.
import { BUSY, type ChatView } from '@/lib/chat/view';

export const GUIDE_STEPS = ['ask', 'read', 'plan', 'build', 'done'] as const;
export type GuideStep = (typeof GUIDE_STEPS)[number];

export function guideStep({ chat, messages }: Pick<ChatView, 'chat' | 'messages'>): GuideStep {
  const isWorking = BUSY[chat.state];
  if (chat.config.agent_mode === 'act') return isWorking || chat.state === 'awaiting_answer' ? 'build' : 'done';
  if (chat.config.plan_file !== null && !isWorking) return 'plan';
  return messages.some((message) => message.author === 'user') ? 'read' : 'ask';
}

/** The run has ended, and not as the demo ends. */
export function isStuck({ chat, lastRun }: Pick<ChatView, 'chat' | 'lastRun'>, step: GuideStep): boolean {
  if (chat.state === 'failed' || (lastRun && lastRun.outcome !== 'done')) return true;
  return step === 'read' && !BUSY[chat.state] && lastRun !== null;
}
