import { expect, test } from 'vitest';
import type { Chat, ChatState, Message, Mode } from '@/lib/api/types';
import type { LastRun } from '@/lib/chat/view';
import { guideStep, isStuck } from './step';

const view = (agent_mode: Mode, state: ChatState, plan_file: string | null, hasSpoken: boolean) => ({
  chat: { config: { agent_mode, plan_file }, state } as Chat,
  messages: hasSpoken ? [{ author: 'user' } as Message] : [],
});

test.each([
  ['ask', view('plan', 'idle', null, false)],
  ['read', view('plan', 'exploring', null, true)],
  ['read', view('plan', 'thinking', '/plans/x.plan', true)],
  ['plan', view('plan', 'idle', '/plans/x.plan', true)],
  ['plan', view('plan', 'awaiting_answer', '/plans/x.plan', true)],
  ['build', view('act', 'executing', '/plans/x.plan', true)],
  ['done', view('act', 'idle', '/plans/x.plan', true)],
])('the guide is at %s', (step, situation) => expect(guideStep(situation)).toBe(step));

test('a run that ended without a plan, or not well, is said to be stuck', () => {
  const ended: LastRun = { outcome: 'done', error: null, openSteps: [] };
  expect(isStuck({ ...view('plan', 'idle', null, true), lastRun: ended }, 'read')).toBe(true);
  expect(isStuck({ ...view('plan', 'thinking', null, true), lastRun: null }, 'read')).toBe(false);
  expect(isStuck({ ...view('act', 'idle', '/p', true), lastRun: { ...ended, outcome: 'stopped' } }, 'done')).toBe(true);
  expect(isStuck({ ...view('act', 'idle', '/p', true), lastRun: ended }, 'done')).toBe(false);
});
