import { expect, test } from 'vitest';
import type { Message } from '@/lib/api/types';
import { burstCounts, linesIn } from './burst';

let next = 0;
const call = (tool: string, args: Record<string, unknown>, diff?: string) => {
  const message = (metadata: object): Message => ({ id: `m${(next += 1)}`, chat_id: 'c', author: 'assistant', agent_role: 'actor', message_type: 'tool_call', content: '', metadata: metadata as Message['metadata'], created_at: '' });
  return { call: message({ tool, args }), result: message({ success: true, facts: diff === undefined ? {} : { diff } }) };
};

test('files count once, searches each time, in the order of their first call', () => {
  const calls = [call('grep', { pattern: 'a' }), call('read', { path: '/a' }), call('read', { path: '/a' }), call('read', { path: '/b' }), call('grep', { pattern: 'a' }), call('wiki__find', {})];
  expect(burstCounts(calls)).toEqual([['burstSearched', 2], ['burstRead', 2], ['burstOther', 1]]);
});

test('lines are counted without the heads of the diffs', () => {
  expect(linesIn([call('edit', {}, '--- a\n+++ b\n@@ -1 +1,2 @@\n-x\n+y\n+z\n'), call('write', {}, '--- /dev/null\n+++ c\n+new')])).toEqual({ added: 3, removed: 1 });
});
