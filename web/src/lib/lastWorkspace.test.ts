import { expect, test } from 'vitest';
import type { Workspace } from '@/lib/api/types';
import { rememberWorkspace, useLastWorkspace, usualWorkspace } from './lastWorkspace';

const named = (id: string, model?: string) => ({ id, settings: model ? { model } : {} }) as Workspace;
const [sample, first, second] = [named('sample', 'demo/demo'), named('first'), named('second', 'openai/gpt')] as const;
const usual = (...all: Workspace[]) => usualWorkspace(all, useLastWorkspace.getState().last)?.id;

test('new chats go where the last real one was, never to the sample while there is something else', () => {
  expect(usual(sample, first, second)).toBe('first');
  rememberWorkspace(second);
  rememberWorkspace(sample);
  expect(usual(sample, first, second)).toBe('second');
  expect(usual(sample, first)).toBe('first');
  expect(usual(sample)).toBe('sample');
  expect(usual()).toBeUndefined();
});
