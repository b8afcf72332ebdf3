import { describe, expect, test } from 'vitest';
import { feedbackMessage } from '@/lib/chat/feedback';
import { type Plan, approvedShas, executeHindrance, isTakenBack, progressOf, readPlan, revisionsOf, withProgress } from './model';

const plan = { goal: 'Say goodbye', steps: [{ step_number: 1, action: 'Write it' }, { step_number: 2, action: 'Test it' }] };
const planMessage = (id: string, revision: number, sha256: string) => ({
  id,
  message_type: 'plan',
  metadata: { plan, plan_file: '/plans/a.plan', revision, sha256 },
  created_at: '2026-01-01T00:00:00Z',
});
const card = (id: string, revision: number, sha256: string) => ({
  id,
  message_type: 'question',
  metadata: { kind: 'plan_approval', plan: { ...plan, plan_file: '/plans/a.plan', revision, sha256 } },
  created_at: '2026-01-01T00:00:00Z',
});

test('versions are the plan messages, and the cards that show a plan edited by hand', () => {
  const messages = [planMessage('1', 1, 'a'), card('2', 1, 'a'), planMessage('3', 2, 'b'), card('4', 2, 'edited')];
  expect(revisionsOf(messages, '/plans/a.plan').map((revision) => [revision.messageId, revision.sha256])).toEqual([
    ['1', 'a'],
    ['3', 'b'],
    ['4', 'edited'],
  ]);
  expect(revisionsOf(messages, '/plans/other.plan')).toEqual([]);
});

test('what was approved is known from the history', () => {
  const note = { id: '9', message_type: 'text', metadata: { approval: { sha256: 'b' } }, created_at: '' };
  expect(approvedShas([planMessage('1', 1, 'a'), note])).toEqual(new Set(['b']));
});

test('a plan that is none is not shown as one', () => {
  expect(readPlan({ goal: 'x' })).toBeUndefined();
  expect(readPlan({ goal: 'x', steps: [{ action: 1, files: ['/a', 2] }] })?.steps[0]).toMatchObject({ action: '', files: ['/a'], status: 'pending' });
});

test('progress names the step under way', () => {
  const shown = withProgress(readPlan(plan) as Plan, [
    { step_number: 1, status: 'done' },
    { step_number: 2, status: 'in_progress' },
  ]);
  expect(progressOf(shown)).toMatchObject({ done: 1, skipped: 0, total: 2, current: { step_number: 2 } });
});

describe('executing is possible', () => {
  const free = { mayChange: true, online: true, newest: true, gone: false, running: false, executed: false, otherQuestion: false, lacksFiles: false };
  test('when nothing stands in the way', () => expect(executeHindrance(free)).toBeUndefined());
  test.each([
    ['newer', { newest: false, executed: true }],
    ['gone', { gone: true, executed: true }],
    ['executed', { executed: true }],
    ['viewer', { mayChange: false, online: false }],
    ['offline', { online: false, running: true }],
    ['files', { lacksFiles: true, otherQuestion: true }],
    ['question', { otherQuestion: true, running: true }],
    ['running', { running: true }],
  ])('not when: %s', (hindrance, situation) => expect(executeHindrance({ ...free, ...situation })).toBe(hindrance));
});

test('comments become one message, each with the number and the words of its step', () => {
  const words = { lead: 'About version 3:', step: (number: number, action: string) => `Step ${number} (${action})` };
  const remarks = [{ step: 2, action: 'Test it', quote: '', text: 'Run it\nunder load ' }, { step: 1, action: 'Write it', quote: 'it', text: 'What?' }, { step: null, action: '', quote: '', text: 'Gone' }];
  expect(feedbackMessage(remarks, ' Keep it small.', words)).toBe('About version 3:\n\n- Gone\n- Step 1 (Write it), “it”: What?\n- Step 2 (Test it): Run it\n  under load\n\nKeep it small.');
});

test('a plan whose file was taken back is gone, until it is written again', () => {
  const at = (message_type: 'plan' | 'text', metadata: Record<string, unknown>) => ({ id: 'm', chat_id: 'c', author: 'system' as const, agent_role: null, message_type, content: '', metadata, created_at: '' });
  const [written, back] = [at('plan', { plan_file: '/plans/a.plan' }), at('text', { revert: { files: [{ path: '/plans/a.plan', wanted: { kind: 'absent' } }] } })];
  expect([[written], [written, back], [written, back, written]].map((messages) => isTakenBack(messages, '/plans/a.plan'))).toEqual([false, true, false]);
  expect(isTakenBack([written, back], '/plans/b.plan')).toBe(false);
});
