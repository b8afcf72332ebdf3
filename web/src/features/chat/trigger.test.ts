import { expect, test } from 'vitest';
import { complete, triggerAt } from './trigger';

const at = (text: string) => triggerAt(text.replace('|', ''), text.indexOf('|'));

test('a slash at the beginning names a command, as long as it is the only word', () => {
  expect(at('/|')).toMatchObject({ kind: 'command', typed: '' });
  expect(at('/pl|an')).toMatchObject({ kind: 'command', typed: 'pl', start: 0, end: 5 });
  expect(at('/rename |')).toBeNull();
  expect(at('and /pl|')).toBeNull();
});

test('an @ names a file at the beginning and after a space, and nowhere inside of a word', () => {
  expect(at('@|')).toMatchObject({ kind: 'file', typed: '', start: 0 });
  expect(at('look at @src/l|')).toMatchObject({ kind: 'file', typed: 'src/l', start: 8, end: 14 });
  expect(at('ann@example|')).toBeNull();
  expect(at('@done and |')).toBeNull();
});

test('what is chosen takes the place of all that was typed of it, with one space after it', () => {
  const text = 'look at @li and go';
  const found = triggerAt(text, 11);
  expect(found && complete(text, found, '/src/lib.rs')).toEqual({ text: 'look at @/src/lib.rs and go', caret: 21 });
});
