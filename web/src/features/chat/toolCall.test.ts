import { expect, test } from 'vitest';
import type { Message } from '@/lib/api/types';
import { summaryOf } from './toolCall';

const call = (args: Record<string, unknown>): Message => ({ id: 'm', chat_id: 'c', author: 'assistant', agent_role: 'planner', message_type: 'tool_call', content: '', metadata: { args } as Message['metadata'], created_at: '' });

test('a page is shown by its address, a search by its words, and references by their symbol', () => {
  expect(summaryOf(call({ url: 'https://docs.rs/serde' }))).toBe('https://docs.rs/serde');
  expect(summaryOf(call({ query: 'serde', limit: 5 }))).toBe('serde');
  expect(summaryOf(call({ symbol: 'parse', path: '' }))).toBe('parse');
  expect(summaryOf(call({ symbol: 'parse', path: '/src' }))).toBe('parse');
});
