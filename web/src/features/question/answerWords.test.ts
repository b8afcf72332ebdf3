import { expect, test } from 'vitest';
import { answerParts, answerText } from './answerWords';
import { fieldOf } from './field';

const words = { yes: 'Yes', no: 'No', none: 'none' };
const region = { oneOf: [{ const: 'eu', title: 'Europe' }, { const: 'us', title: 'America' }] };
const said = (schema: object, answer: never) => answerText(fieldOf(schema as never, undefined, 'none'), answer, words);

test('a choice is shown by its title, alone, in a list and in an object', () => {
  expect(said(region, 'eu' as never)).toBe('Europe');
  expect(said({ type: 'array', items: region }, ['us', 'eu'] as never)).toBe('America, Europe');
  const group = fieldOf({ type: 'object', properties: { region: { ...region, title: 'Region' } } } as never, undefined, 'none');
  expect(answerParts(group, { region: 'eu' })).toMatchObject([{ name: 'Region', value: 'eu' }]);
  expect(answerText(answerParts(group, { region: 'eu' })?.[0]?.field, 'eu', words)).toBe('Europe');
});

test('what is empty says so, and line breaks stay', () => {
  expect(said({ type: 'array', items: { type: 'string' } }, [] as never)).toBe('none');
  expect(said({ type: 'string' }, 'a\nb' as never)).toBe('a\nb');
  expect(said({ type: 'boolean' }, false as never)).toBe('No');
});
