import { expect, test } from 'vitest';
import type { InboxQuestion } from '@/lib/api/inbox';
import { folderOf, headline } from './headline';
import { NO_FILTER, passes, type Row } from './rows';
import type { Text } from '@/i18n';
import { inbox } from '@/i18n/en/inbox';

const t = ((key: keyof typeof inbox, values: Record<string, string | number> = {}) => inbox[key].replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]))) as Text<'inbox'>;
const asks = (change: Partial<InboxQuestion>): InboxQuestion => ({ question_id: 'q', kind: 'tool_approval', severity: 'major', created_at: '2026-01-01T00:00:00Z', text: 'May **it**?', count: 1, ...change });
const call = (effects: [string, string?][], command?: string): InboxQuestion['call'] => ({ tool: 'x', reason: '', effects: effects.map(([effect, path]) => ({ effect, ...(path && { path }) })), effect_count: effects.length, ...(command && { command }) });

test('a question is one line that says what would happen', () => {
  expect(headline(t, asks({ kind: 'user' }))).toBe('May it?');
  expect(headline(t, asks({ call: call([['delete', '/a/b.rs']]) }))).toBe('Delete `a/b.rs`?');
  expect(headline(t, asks({ call: call([['delete', '/a/b.rs'], ['delete', '/a/c/d.rs']]) }))).toBe('Delete 2 files in `a`?');
  expect(headline(t, asks({ call: call([['network']], 'npm ci') }))).toBe('Run `npm ci` with network access?');
  expect(headline(t, asks({ call: call([['write', '/x']], 'make') }))).toBe('Keep what `make` changed?');
  expect(headline(t, asks({ call: call([['consult']]) }))).toBe('May it?');
});

test('the folder that paths share', () => {
  expect(folderOf(['/a/b/c', '/a/b/d/e', '/a/b/f'])).toBe('/a/b');
  expect(folderOf(['/a/b', '/c/d'])).toBe('/');
  expect(folderOf(['/a/b/c/d', '/a/x'])).toBe('/a');
});

test('a filter looks for its text in title, question and workspace', () => {
  const row = { title: 'Refunds', workspace_name: 'billing', workspace_id: 'w', person: 'ann', config: { agent_role: 'planner' }, question: asks({ text: 'Block it?' }) } as Row;
  for (const text of ['refund', 'BILL', 'block']) expect(passes(row, { ...NO_FILTER, text })).toBe(true);
  for (const filter of [{ text: 'x' }, { workspace: 'v' }, { person: 'bob' }, { role: 'actor' as const }]) expect(passes(row, { ...NO_FILTER, ...filter })).toBe(false);
});
