import { expect, test } from 'vitest';
import type { Message } from '@/lib/api/types';
import { revisionsOf } from '../model';
import { notesOf } from './notes';

const message = (id: string, fields: Partial<Message>) => ({ id, chat_id: 'c', author: 'assistant', agent_role: 'planner', message_type: 'text', content: '', metadata: {}, created_at: '2026-01-01T00:00:00Z', ...fields }) as Message;
const plan = (id: string, revision: number, actions: string[], comments?: object[]) =>
  message(id, { message_type: 'plan', metadata: { plan_file: '/plans/a.plan', revision, sha256: id, plan: { goal: 'g', steps: actions.map((action, place) => ({ step_number: place + 1, action })) }, ...(comments && { comments }) } });

test('a comment is found at its step, wherever that went, with what became of it', () => {
  const comments = [{ id: 'a', step: 1, quote: '', text: 'Later' }, { id: 'b', step: 2, quote: 'two', text: 'Why' }, { id: 'c', step: 3, quote: '', text: 'Drop it' }];
  const messages = [
    plan('p1', 1, ['Write the module', 'Export two things', 'Test all of it']),
    message('u1', { author: 'user', metadata: { comments } }),
    plan('p2', 2, ['Export three things', 'Write the module'], [{ ...comments[0], outcome: 'done', note: 'Moved' }, { ...comments[1], outcome: 'declined' }, comments[2]!]),
    message('u2', { author: 'user', metadata: { comments: [{ id: 'd', step: 1, text: 'Once more' }, { id: 'e', path: '/a', text: 'of a file' }] } }),
  ];
  const revisions = revisionsOf(messages, null);
  expect(notesOf(messages, revisions, revisions[0]!)).toMatchObject({ answered: [], waiting: [{ id: 'a', state: 'sent' }, { id: 'b' }, { id: 'c' }], on: null });
  const second = notesOf(messages, revisions, revisions[1]!);
  expect(second.answered.map(({ step, state, answer, isGone }) => [step, state, answer, isGone])).toEqual([[2, 'done', 'Moved', false], [1, 'declined', '', false], [null, 'unanswered', '', true]]);
  expect(second.waiting.map(({ id }) => id)).toEqual(['d']);
  expect(second.on).toBe(1);
});
