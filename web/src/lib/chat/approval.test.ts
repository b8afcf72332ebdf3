import { expect, test } from 'vitest';
import { lapseOfApproval } from './approval';

const message = (id: string, metadata: Record<string, unknown>, message_type = 'text', author = 'system') => ({ id, author, message_type, metadata });
const given = message('given', { approval: { plan_file: '/plans/a.plan', sha256: 'one' } });
const version = (id: string, sha256: string, plan_file = '/plans/a.plan') => message(id, { plan_file, sha256 }, 'plan', 'assistant');
const back = (target: string) => message('back', { revert: { message_id: target } });

test('an approval lapses when the plan is revised, and holds again with its old content', () => {
  expect(lapseOfApproval([])).toBeUndefined();
  expect(lapseOfApproval([version('v', 'one'), given])).toBeUndefined();
  expect(lapseOfApproval([given, version('v', 'two')])).toBe('revised');
  expect(lapseOfApproval([given, version('v', 'two'), version('w', 'one')])).toBeUndefined();
  expect(lapseOfApproval([given, version('v', 'two', '/plans/b.plan')])).toBeUndefined();
});

test('an approval lapses when changes are taken back to before it, not to after it', () => {
  const later = message('later', {}, 'text', 'user');
  expect(lapseOfApproval([message('early', {}), given, later, back('early')])).toBe('takenBack');
  expect(lapseOfApproval([given, later, back('given')])).toBe('takenBack');
  expect(lapseOfApproval([given, later, back('older than what is loaded')])).toBe('takenBack');
  expect(lapseOfApproval([given, later, back('later')])).toBeUndefined();
  expect(lapseOfApproval([given, later, { ...back('early'), author: 'user' }])).toBeUndefined();
});
