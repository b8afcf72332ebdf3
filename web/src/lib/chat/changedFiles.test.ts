import { expect, test } from 'vitest';
import type { ChangedFile, Image } from '@/lib/api/types';
import { reviewable } from './changedFiles';
import { planVersionIn } from './planVersion';

const FILE: Image = { kind: 'file', mode: 420, sha256: 'a' };
const file = (path: string, more: Partial<ChangedFile> = {}): ChangedFile => ({ path, status: 'modified', before: FILE, after: FILE, diff: '', added: 1, removed: 1, binary: false, truncated: false, reverted: false, messages: [], ...more });

test('a new folder is listed only where nothing in it is, a plan never', () => {
  const folder = { after: { kind: 'folder', mode: 493 } as Image, before: { kind: 'absent' } as Image };
  const listed = reviewable([file('/src', folder), file('/src/a.rs'), file('/empty', folder), file('/plans/a.plan')]);
  expect(listed.map(({ path }) => path)).toEqual(['/src/a.rs', '/empty']);
});

test('the version of the plan is that of its newest message or card; another plan does not count', () => {
  const plan = (plan_file: string, revision: number) => ({ message_type: 'plan' as const, metadata: { plan_file, revision } });
  const card = (plan_file: string, revision: number) => ({ message_type: 'question' as const, metadata: { kind: 'plan_approval', plan: { plan_file, revision } } });
  expect(planVersionIn([plan('/a.plan', 1), card('/a.plan', 2), plan('/b.plan', 7)], '/a.plan')).toBe(2);
  expect(planVersionIn([plan('/a.plan', 1)], null)).toBeNull();
  expect(planVersionIn([], '/a.plan')).toBeNull();
});
