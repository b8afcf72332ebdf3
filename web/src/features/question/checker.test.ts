import { Validator } from '@cfworker/json-schema';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Checker, type CheckingWorker } from './checker';
import type { Check } from './checker.worker';
import { complaintsOf, serverComplaints } from './complaint';
import type { Json, JsonObject } from '@/lib/api/types';

const complain = (schema: Json, value: Json) => complaintsOf(new Validator(schema as JsonObject, '2020-12', false).validate(value).errors, schema);

describe("the validator's faults name fields", () => {
  test.each<[string, JsonObject, Json, object]>([
    ['a missing field', { type: 'object', required: ['a/b'] }, {}, { pointer: '/a~1b', key: 'required' }],
    ['a value that is none of them', { enum: ['a', 'b'] }, 'c', { pointer: '', key: 'choice', params: { values: 'a, b' } }],
    ['a text that is too short', { properties: { n: { minLength: 3 } } }, { n: 'x' }, { pointer: '/n', key: 'minLength', params: { limit: 3 } }],
    ['a text that does not match', { pattern: '^/' }, 'x', { pointer: '', key: 'pattern', params: { limit: '^/' } }],
    ['an address that is none', { format: 'email' }, 'x', { pointer: '', key: 'format', params: { limit: 'email' } }],
    ['a number that is too large', { maximum: 5 }, 6, { pointer: '', key: 'maximum', params: { limit: 5 } }],
    ['a list that is too short', { minItems: 2 }, [1], { pointer: '', key: 'minItems', params: { limit: 2 } }],
    ['an entry of a list', { items: { minimum: 3 } }, [4, 1], { pointer: '/1', key: 'minimum', params: { limit: 3 } }],
  ])('%s', (_, schema, value, complaint) => expect(complain(schema, value)).toContainEqual(complaint));
});

test("the server's complaints are sorted by question", () => {
  const fields = { endpoint: 'needs an answer', 'config/limits/burst': 'must be at least 1', other: 'is none of the questions asked' };
  expect(serverComplaints(fields, ['endpoint', 'config'])).toEqual({
    endpoint: { '': 'needs an answer' },
    config: { '/limits/burst': 'must be at least 1' },
  });
});

describe('the checker', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const worker = (answer: (check: Check, reply: (data: object) => void) => void) => {
    const started: { terminated: boolean }[] = [];
    const start = () => {
      const state = { terminated: false };
      started.push(state);
      const made: CheckingWorker = {
        onmessage: null,
        onerror: null,
        postMessage: (check) => answer(check, (data) => state.terminated || made.onmessage?.({ data } as never)),
        terminate: () => {
          state.terminated = true;
        },
      };
      return made;
    };
    return { checker: new Checker(start), started };
  };

  test('a check that takes too long is ended, and the server decides', async () => {
    const { checker, started } = worker(({ id }, reply) => reply({ id, begun: true }));
    const first = checker.check({ pattern: '^(a+)+$' }, 'aaaaaaaaaaaaaaaaaaaaaaaaaaaa!');
    await vi.advanceTimersByTimeAsync(249);
    expect(started[0]?.terminated).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(await first).toEqual([]);
    expect(started[0]?.terminated).toBe(true);
  });

  test('the time a worker takes to start does not count', async () => {
    const { checker } = worker(({ id }, reply) =>
      setTimeout(() => {
        reply({ id, begun: true });
        reply({ id, complaints: [{ pointer: '', key: 'required' }] });
      }, 2000),
    );
    const check = checker.check({}, 1);
    await vi.advanceTimersByTimeAsync(2000);
    expect(await check).toHaveLength(1);
  });

  test('checks wait for each other, so that one that hangs costs no other its worker', async () => {
    const { checker, started } = worker(({ id, value }, reply) => {
      reply({ id, begun: true });
      if (value !== 'hang') reply({ id, complaints: [{ pointer: '', key: 'other' }] });
    });
    const hangs = checker.check({}, 'hang');
    const passes = checker.check({}, 'pass');
    await vi.advanceTimersByTimeAsync(250);
    expect(await hangs).toEqual([]);
    expect(await passes).toHaveLength(1);
    expect(started).toHaveLength(2);
  });
});
