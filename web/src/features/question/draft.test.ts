import { describe, expect, test } from 'vitest';
import { type Draft, assemble, readDraft, startingDraft } from './draft';
import { fieldOf } from './field';
import type { Json } from '@/lib/api/types';

const answer = (schema: Json, draft: Draft) => assemble(fieldOf(schema, undefined, 'kept'), draft);
const endpoint = {
  type: 'object',
  properties: {
    path: { type: 'string' },
    method: { enum: ['GET', 'POST'] },
    retries: { type: 'integer' },
    auth: { type: 'boolean', default: true },
    note: { type: 'string' },
    limits: { type: 'object', properties: { burst: { type: 'integer' } }, required: ['burst'] },
  },
  required: ['path', 'method'],
};

describe('what was entered becomes the answer', () => {
  test('fields that are empty and need not be given are left out', () => {
    const { value, complaints } = answer(endpoint, { '/path': '/limits', '/method': [1], '/note': '' });
    expect(value).toEqual({ path: '/limits', method: 'POST' });
    expect(complaints).toEqual([]);
  });

  test('each field that is missing is named', () => {
    expect(answer(endpoint, {}).complaints).toEqual([
      { pointer: '/path', key: 'required' },
      { pointer: '/method', key: 'required' },
    ]);
  });

  test('an optional object counts once a part of it is entered', () => {
    const draft = { '/path': 'x', '/method': [0] };
    expect(answer(endpoint, draft).value).not.toHaveProperty('limits');
    expect(answer(endpoint, { ...draft, '/limits/burst': '5' }).value).toMatchObject({ limits: { burst: 5 } });
    expect(answer(endpoint, { ...draft, '/limits/burst': 'many' }).complaints).toEqual([{ pointer: '/limits/burst', key: 'integer' }]);
  });

  test.each([
    ['12', 12],
    ['1.5', undefined],
    ['9007199254740993', undefined],
    ['1e3', 1000],
    ['x', undefined],
  ])('the whole number %s', (text, value) => expect(answer({ type: 'integer' }, { '': text }).value).toBe(value));

  test.each<[string, Json, Draft, Json]>([
    ['a switch that nobody touched', { type: 'boolean' }, {}, false],
    ['a choice by its value', { enum: [10, 20] }, { '': [1] }, 20],
    ['ticks in the order of the choices', { type: 'array', items: { enum: ['a', 'b', 'c'] } }, { '': [2, 0] }, ['a', 'c']],
    ['no ticks', { type: 'array', items: { enum: ['a'] } }, {}, []],
    ['tags', { type: 'array', items: { type: 'string' } }, { '': ['x', 'y'] }, ['x', 'y']],
    ['numbers as tags', { type: 'array', items: { type: 'number' } }, { '': ['1', '2.5'] }, [1, 2.5]],
    ['JSON', {}, { '': '{"a": [1]}' }, { a: [1] }],
    ['nothing where null will do', { type: ['string', 'null'] }, {}, null],
  ])('%s', (_, schema, draft, value) => expect(answer(schema, draft).value).toEqual(value));

  test('invalid JSON is reported with the reason', () => {
    expect(answer({}, { '': '{"a":' }).complaints).toMatchObject([{ pointer: '', key: 'json', params: { why: expect.any(String) } }]);
  });

  test('a field named __proto__ is data', () => {
    const schema = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}},"required":["__proto__"]}') as Json;
    expect(JSON.stringify(answer(schema, { '/__proto__': 'x' }).value)).toBe('{"__proto__":"x"}');
  });
});

test('a form starts with its presets', () => {
  expect(startingDraft(fieldOf(endpoint, { path: '/a', method: 'POST' }, 'kept'))).toEqual({ '/path': '/a', '/method': [1], '/auth': true });
  expect(startingDraft(fieldOf({ type: 'array', items: { enum: ['a', 'b'] } }, ['b', 'z'], 'kept'))).toEqual({ '': [1] });
});

test('a kept draft that does not fit is left out', () => {
  expect(readDraft({ a: 'x', b: { c: 1 }, d: [1, 'x'], e: [1], f: null })).toEqual({ a: 'x', e: [1] });
  expect(readDraft('x')).toEqual({});
});
