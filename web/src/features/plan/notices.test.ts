import { expect, test } from 'vitest';
import type { Message } from '@/lib/api/types';
import { changeSinceApproval, newestDrift } from './notices';

const message = (metadata: Message['metadata'], message_type: Message['message_type'] = 'text'): Message => ({
  id: 'm',
  chat_id: 'c',
  author: 'system',
  agent_role: null,
  message_type,
  content: '',
  metadata,
  created_at: '2026-01-01T00:00:00Z',
});
const approval = message({ approval: { sha256: 'a' } });

test('drift is that of the newest approval', () => {
  const drift = message({ drift: [{ path: '/a', change: 'changed' }, 'nonsense'] });
  expect(newestDrift([approval, drift])).toEqual([{ path: '/a', change: 'changed' }]);
  expect(newestDrift([approval, drift, approval])).toEqual([]);
  expect(newestDrift([drift])).toEqual([]);
});

test('a file that was edited, deleted or broken since the approval is reported, and forgotten with the next approval', () => {
  const changed = (change: string) => message({ plan_changed: { plan_file: '/plans/a.plan', change } });
  expect(changeSinceApproval([approval])).toBeUndefined();
  expect(changeSinceApproval([approval, changed('edited'), changed('deleted')])).toBe('deleted');
  expect(changeSinceApproval([approval, changed('edited'), approval])).toBeUndefined();
  expect(changeSinceApproval([approval, message({ error: { code: 'APPROVAL_STALE' } }, 'tool_result')])).toBe('edited');
});
