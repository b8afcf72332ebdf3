import { renderHook } from '@testing-library/react';
import { expect, test } from 'vitest';
import { useText } from '@/i18n';
import type { JsonObject, Message } from '@/lib/api/types';
import { chatMarkdown, fileName, planIn, planMarkdown } from './transcript';

const words = renderHook(() => ({ chat: useText('chat'), plan: useText('plan'), role: (role: string) => role.replace('p', 'P'), moment: (at: string) => at.slice(0, 10) })).result.current;
let count = 0;
const message = (fields: Partial<Message>): Message => ({ id: `m${(count += 1)}`, chat_id: 'c', author: 'assistant', agent_role: 'planner', message_type: 'text', content: '', metadata: {}, created_at: '2026-01-02T00:00:00Z', ...fields }) as Message;
const PLAN: JsonObject = { goal: 'Ship it', steps: [{ step_number: 1, action: 'Write\nit', reason: 'None yet', files: ['src/a.rs'], verify: 'cargo `test`', status: 'done' }, { step_number: 2, action: 'Try it' }], risks: ['Time'], prerequisites: [] };

test('a chat is its title, then who said what, with calls in one line each', () => {
  const call = message({ message_type: 'tool_call', metadata: { call_id: '1', tool: 'read', category: 'read', status: 'done', args: { path: '/src/lib.rs' } } });
  const failed = message({ message_type: 'tool_call', metadata: { call_id: '2', tool: 'run', status: 'done', args: { command: 'cargo test' } } });
  const text = chatMarkdown('A # title\nin two lines', [
    message({ author: 'user', agent_role: null, content: 'Do it' }),
    message({ content: 'Looking.' }),
    call,
    message({ author: 'tool', message_type: 'tool_result', content: 'long text', metadata: { call_id: '1', success: true } }),
    failed,
    message({ author: 'tool', message_type: 'tool_result', content: 'no', metadata: { call_id: '2', success: true, facts: { exit_code: 101 } } }),
    message({ author: 'system', content: 'Switched\nto Build' }),
  ], words);
  expect(text).toBe('# A # title in two lines\n\n## You, 2026-01-02\n\nDo it\n\n## Planner, 2026-01-02\n\nLooking.\n\n- `read` `/src/lib.rs`\n\n- `run` `cargo test` (exit code 101)\n\n*Switched to Build*\n');
});

test('a plan has its goal, its steps with files and checks, and its lists', () => {
  expect(planMarkdown(PLAN, words.plan)).toBe('# Ship it\n\n## Steps\n\n1. [x] Write it\n   - Reason: None yet\n   - Files: `src/a.rs`\n   - Check: `` cargo `test` ``\n2. [ ] Try it\n\n## Risks\n\n- Time');
});

test('the newest plan of the chat’s file is the one that is saved', () => {
  const written = (goal: string, file: string) => message({ message_type: 'plan', metadata: { plan: { ...PLAN, goal }, plan_file: file, revision: 2 } });
  expect(planIn([written('old', '/a.plan'), written('new', '/a.plan'), written('other', '/b.plan')], '/a.plan')).toMatchObject({ plan: { goal: 'new' }, revision: 2 });
  expect(planIn([message({})], null)).toBeNull();
});

test('a title becomes a harmless file name', () => {
  expect(['Fix: login/out?', '../../etc/passwd', '修复 登录', '***', 'x'.repeat(300)].map(fileName)).toEqual(['fix-login-out.md', 'etc-passwd.md', '修复-登录.md', 'chat.md', `${'x'.repeat(60)}.md`]);
});
