import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { keepView, KEPT_FOR, MOST_LEFT, releaseView } from './retention';
import { useChatStore } from './store';
import type { ChatView } from './view';

const views = () => Object.keys(useChatStore.getState().views);
const open = (...chats: string[]) => useChatStore.setState({ views: Object.fromEntries(chats.map((chat) => [chat, { chat: { id: chat } } as ChatView])) });

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('the view of a chat that was left long ago leaves memory; that of an open one stays', () => {
  open('a', 'b');
  releaseView('a');
  vi.advanceTimersByTime(KEPT_FOR - 1);
  expect(views()).toEqual(['a', 'b']);
  vi.advanceTimersByTime(1);
  expect(views()).toEqual(['b']);
});

test('a chat that is opened again in time keeps its view', () => {
  open('a');
  releaseView('a');
  keepView('a');
  vi.advanceTimersByTime(KEPT_FOR * 2);
  expect(views()).toEqual(['a']);
});

test('of many chats that were left, the latest keep their views', () => {
  const chats = Array.from({ length: MOST_LEFT + 3 }, (_, index) => `chat-${index}`);
  open('shown', ...chats);
  for (const chat of chats) releaseView(chat);
  expect(views()).toEqual(['shown', ...chats.slice(3)]);
});
