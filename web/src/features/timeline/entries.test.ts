import { expect, test } from 'vitest';
import type { AuditEntry, Message } from '@/lib/api/types';
import { entriesOf, opening } from './entries';

const at = (second: number) => `2026-01-01T00:00:${String(second).padStart(2, '0')}Z`;
const message = (second: number, more: Partial<Message>): Message => ({
  id: `m${second}`, chat_id: 'c', author: 'assistant', agent_role: 'actor', message_type: 'text', content: '', metadata: {}, created_at: at(second), ...more,
});
const logged = (second: number, kind: AuditEntry['kind'], details: AuditEntry['details'] = {}): AuditEntry => ({ id: second, workspace_id: 'w', chat_id: 'c', kind, model: 'm', agent_role: 'planner', user: null, details, at: at(second) });

test('history and log are one line of time, in which calls that follow each other are one entry', () => {
  const call = (second: number, tool: string) => message(second, { message_type: 'tool_call', metadata: { tool } });
  const entries = entriesOf(
    [message(1, { author: 'user', content: 'Do it' }), call(2, 'read'), message(3, { author: 'tool', message_type: 'tool_result' }), call(4, 'read'), call(5, 'grep'), call(7, 'write')],
    [logged(6, 'tool_blocked', { tool: 'write', code: 'TOOL_BLOCKED_BY_MODE', args: { path: '/a' } }), logged(0, 'mode_entered', { mode: 'plan' })],
  );
  expect(entries.map((entry) => entry.kind)).toEqual(['began', 'said', 'called', 'blocked', 'called']);
  expect(entries[2]).toMatchObject({ tools: [['read', 2], ['grep', 1]], at: at(2) });
  expect(entries[3]).toMatchObject({ topic: 'violations', tool: 'write', aim: '/a' });
});

test('a switch is shown once, with its cause, though history and log both have it', () => {
  const entries = entriesOf([message(1, { author: 'system', agent_role: null, metadata: { mode_change: { from: 'planner', to: 'actor', by: 'approval' } } })], [logged(1, 'mode_entered', { mode: 'act', by: 'approval' })]);
  expect(entries).toMatchObject([{ kind: 'switched', to: 'actor', by: 'approval' }]);
});

test('answers, plans, questions, reverts and summaries have entries of different kinds', () => {
  const entries = entriesOf(
    [
      message(1, { message_type: 'plan', content: 'Text', metadata: { plan: { goal: 'Greet' }, revision: 2 } }),
      message(2, { message_type: 'question', content: 'Which?', metadata: { severity: 'critical' } }),
      message(3, { author: 'user', content: '[Answered: this]', metadata: { question_answer: {} } }),
      message(4, { author: 'system', content: 'Taken back.', metadata: { revert: {} } }),
      message(5, { author: 'system', content: 'Summed up.\nMore.', metadata: { compaction: {} } }),
      message(6, { content: '  ' }),
    ],
    [logged(7, 'approval_denied', { tool: 'rm' }), logged(8, 'approval_given', { plan_file: '/plans/a.plan' })],
  );
  expect(entries.map((entry) => entry.kind)).toEqual(['planned', 'asked', 'answered', 'reverted', 'compacted', 'denied']);
  expect(entries[0]).toMatchObject({ text: 'Greet', revision: 2 });
  expect(opening('\nSummed up.\nMore.')).toBe('Summed up.');
});
