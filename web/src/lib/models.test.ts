import { expect, test } from 'vitest';
import { namesOf } from './models';

test('models are called by the last part of their names, and by all of it where that is another’s too', () => {
  expect(namesOf(['anthropic/claude-sonnet-4-5', 'a/qwen', 'openrouter/b/qwen'])).toEqual({
    'anthropic/claude-sonnet-4-5': 'claude-sonnet-4-5',
    'a/qwen': 'a/qwen',
    'openrouter/b/qwen': 'openrouter/b/qwen',
  });
});
