import { describe, expect, test } from 'vitest';
import { type Field, fieldOf } from './field';
import type { Json } from '@/lib/api/types';

const kinds = (field: Field): unknown => (field.kind === 'group' ? Object.fromEntries(field.fields.map((part) => [part.pointer, kinds(part)])) : field.kind);
const kindOf = (schema: Json) => kinds(fieldOf(schema, undefined, 'kept'));

describe('a schema becomes the control that fits it', () => {
  test.each<[string, Json, string]>([
    ['boolean', { type: 'boolean' }, 'switch'],
    ['a few values', { type: 'string', enum: ['GET', 'POST'] }, 'cards'],
    ['many values', { type: 'string', enum: [...'abcdefgh'] }, 'list'],
    ['constants with titles', { oneOf: [{ const: 'a', title: 'First' }, { const: 'b' }] }, 'cards'],
    ['numbers as values', { enum: [1, 2] }, 'cards'],
    ['some of a few values', { type: 'array', items: { enum: ['a', 'b'] } }, 'checks'],
    ['a list of texts', { type: 'array', items: { type: 'string' } }, 'tags'],
    ['a list of numbers', { type: 'array', items: { type: 'number' } }, 'tags'],
    ['text', { type: 'string' }, 'line'],
    ['long text', { type: 'string', maxLength: 500 }, 'area'],
    ['text that asks for an area', { type: 'string', format: 'textarea' }, 'area'],
    ['number', { type: 'number' }, 'number'],
    ['text or nothing', { type: ['string', 'null'] }, 'line'],
    ['a mix of types', { anyOf: [{ type: 'string' }, { type: 'number' }] }, 'json'],
    ['no type', {}, 'json'],
    ['anything', true, 'json'],
    ['names by pattern', { type: 'object', patternProperties: { '^x': {} } }, 'json'],
    ['an object without fields', { type: 'object' }, 'json'],
    ['a required field that is not described', { type: 'object', properties: { a: {} }, required: ['b'] }, 'json'],
    ['a list of objects', { type: 'array', items: { type: 'object', properties: { a: { type: 'string' } } } }, 'json'],
  ])('%s', (_, schema, kind) => expect(kindOf(schema)).toBe(kind));

  test('an object becomes a group of its fields', () => {
    const schema = {
      type: 'object',
      properties: { path: { type: 'string' }, limits: { type: 'object', properties: { burst: { type: 'integer' } } } },
      required: ['path'],
    };
    expect(kindOf(schema)).toEqual({ '/path': 'line', '/limits': { '/limits/burst': 'number' } });
  });

  test('an object nested too deep is edited as JSON', () => {
    const nested = (depth: number): Json => ({ type: 'object', properties: { in: depth === 0 ? { type: 'string' } : nested(depth - 1) } });
    expect(JSON.stringify(kindOf(nested(3)))).toContain('line');
    expect(JSON.stringify(kindOf(nested(4)))).toContain('json');
  });

  test('names with slashes and names that mean something to JavaScript are fields like others', () => {
    const schema = JSON.parse('{"type":"object","properties":{"a/b":{"type":"string"},"__proto__":{"type":"string"}}}') as Json;
    expect(kindOf(schema)).toEqual({ '/a~1b': 'line', '/__proto__': 'line' });
  });
});

describe('references', () => {
  test('are followed within the schema', () => {
    const schema = { $ref: '#/$defs/level', $defs: { level: { enum: ['low', 'high'] } } };
    expect(kindOf(schema)).toBe('cards');
  });

  test.each(['#/$defs/none', 'https://example.org/schema', '#/%zz', '#'])('one to %s is edited as JSON', ($ref) => expect(kindOf({ $ref })).toBe('json'));

  test('a schema that refers to itself, or doubles at every level, is edited as JSON', () => {
    expect(kindOf({ $ref: '#/$defs/a', $defs: { a: { properties: { a: { $ref: '#/$defs/a' } } } } })).toBe('json');
    const doubling = Object.fromEntries(
      Array.from({ length: 30 }, (_, level) => [`d${level}`, { properties: { a: { $ref: `#/$defs/d${level + 1}` }, b: { $ref: `#/$defs/d${level + 1}` } } }]),
    );
    expect(kindOf({ $ref: '#/$defs/d0', $defs: { ...doubling, d30: { type: 'string' } } })).toBe('json');
  });
});

describe('presets', () => {
  test('come from the question, then from the schema', () => {
    expect(fieldOf({ type: 'string', default: 'b' }, 'a', 'kept').preset).toBe('a');
    expect(fieldOf({ type: 'string', default: 'b' }, undefined, 'kept').preset).toBe('b');
  });

  test('a critical question has none, and its yes and no are two cards', () => {
    const field = fieldOf({ type: 'boolean', default: true }, true, 'none');
    expect(field).toMatchObject({ kind: 'cards', choices: [{ value: true }, { value: false }] });
    expect(field).not.toHaveProperty('preset');
  });
});
