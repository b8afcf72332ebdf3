import { expect, test } from 'vitest';
import { around } from './around';

test('the words are shown with what stands around them, on one line', () => {
  expect(around('short\n\ntext', 'TEXT')).toBe('short text');
  const long = `${'before '.repeat(20)}needle${' after'.repeat(40)}`;
  expect(around(long, 'needle')).toMatch(/^….*needle.*…$/);
});
