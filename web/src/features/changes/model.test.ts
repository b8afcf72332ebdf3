import { describe, expect, test } from 'vitest';
import type { CallChanges, ChangedFile, Image, Message } from '@/lib/api/types';
import { byMessage, fateOf, sinceOf, uncut, unshown, weigh } from './model';

const FILE: Image = { kind: 'file', mode: 420, sha256: 'a' };
const ABSENT: Image = { kind: 'absent' };
const file = (path: string, more: Partial<ChangedFile> = {}): ChangedFile => ({
  path, status: 'modified', before: FILE, after: FILE, diff: `diff --git a${path} b${path}\n--- a\n+++ b\n@@ -1 +1 @@\n-a\n+b\n`, added: 1, removed: 1, binary: false, truncated: false, reverted: false, ...more,
});
const call = (id: string, ...files: ChangedFile[]): CallChanges => ({ message_id: id, call_id: id, tool: 'write', agent_role: 'actor', at: '2026-01-01T00:00:00Z', files, left_out: 0 });
const said = (id: string, more: Partial<Message> = {}): Message => ({ id, chat_id: 'c', author: 'user', agent_role: null, message_type: 'text', content: id, metadata: {}, created_at: '2026-01-01T00:00:00Z', ...more });

test('lines and files are added up', () => {
  expect(weigh([file('/a'), file('/b', { added: 3, removed: 0 })])).toEqual({ files: 2, added: 4, removed: 1 });
});

describe('by message', () => {
  test('calls stand under the words that set them off, newest first; an answer is no such word', () => {
    const words = [said('01'), said('04', { metadata: { question_answer: {} } }), said('06')];
    const groups = byMessage([call('02', file('/a')), call('03', file('/b')), call('05', file('/c')), call('07', file('/d'))], words);
    expect(groups.map((group) => [group.asked?.id, group.calls.map((one) => one.message_id)])).toEqual([['06', ['07']], ['01', ['05', '03', '02']]]);
  });

  test('what was set off by words that are not loaded is shown all the same', () => {
    expect(byMessage([call('02', file('/a'))], [said('03')])).toMatchObject([{ asked: null, calls: [{ message_id: '02' }] }]);
  });
});

test('what a path loses by being taken back is what was done to it since, also under its earlier name', () => {
  const changes = [call('01', file('/a')), call('02', file('/a')), call('03', file('/b', { from: '/a', status: 'moved' })), call('04', file('/a', { reverted: true }))];
  expect(sinceOf(changes, '02', '/a').map((one) => one.call.message_id)).toEqual(['02', '03']);
});

test('a path that is taken back goes, comes, or becomes what it was', () => {
  expect(fateOf({ path: '/a', present: FILE, wanted: ABSENT })).toBe('removed');
  expect(fateOf({ path: '/a', present: ABSENT, wanted: FILE })).toBe('brought_back');
  expect(fateOf({ path: '/a', present: FILE, wanted: FILE })).toBe('put_back');
});

test('what has no lines to show says why', () => {
  const bare = { diff: '', added: 0, removed: 0 };
  expect(unshown(file('/a'))).toBeNull();
  expect(unshown(file('/a', { ...bare, after: { kind: 'folder', mode: 493 } }))).toBe('folder');
  expect(unshown(file('/a', { diff: 'Binary files differ\n', binary: true }))).toBe('binary');
  expect(unshown(file('/a', { ...bare, status: 'moved', from: '/b' }))).toBe('movedOnly');
  expect(unshown(file('/a', { ...bare, truncated: true }))).toBe('too_long');
  expect(unshown(file('/a', bare))).toBe('mode');
});

test('the remark that a diff was cut is no line of it', () => {
  expect(uncut('@@ -1 +1 @@\n-a\n+b\n[diff cut: 12 more bytes]\n')).toBe('@@ -1 +1 @@\n-a\n+b');
});
