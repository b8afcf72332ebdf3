import type { Json, JsonObject } from '@/lib/api/types';
import { isObject, pointerTo, shownJson } from './json';
import { resolved } from './schema';

/** How many choices are shown side by side; more are put into a list that can be searched. */
const MOST_CARDS = 7;
/** A text that may be longer gets an area of several lines. */
const LONGEST_LINE = 120;
/** Objects nested deeper than this are edited as JSON. */
const DEEPEST = 4;

export interface Choice {
  value: Json;
  label: string;
  description?: string;
}

interface Common {
  /** Where in the answer its value stands, as a JSON Pointer; empty for the whole answer. */
  pointer: string;
  /** Nothing for the whole answer, whose label is the question itself. */
  label?: string;
  description?: string;
  required: boolean;
  /** Whether `null` stands for "nothing". */
  nullable: boolean;
  preset?: Json;
}

interface TextLimits {
  input: 'text' | 'email' | 'url' | 'date';
  longest?: number;
  example?: string;
}

export type Field = Common &
  (
    | { kind: 'switch' }
    | { kind: 'cards'; choices: Choice[] }
    | { kind: 'list'; choices: Choice[] }
    | { kind: 'checks'; choices: Choice[] }
    | { kind: 'tags'; of: 'text' | 'number' | 'integer'; most?: number }
    | ({ kind: 'line' } & TextLimits)
    | ({ kind: 'area' } & TextLimits)
    | { kind: 'number'; integer: boolean; least?: number; most?: number }
    | { kind: 'group'; fields: Field[] }
    | { kind: 'json'; schema: Json }
  );

/** Whether a form may start with answers of its own. */
type Presets = 'kept' | 'none';

/** The form for a schema of the model. Whatever has no control of its own is edited as JSON. */
export function fieldOf(schema: Json, preset: Json | undefined, presets: Presets): Field {
  const whole = { pointer: '', required: true, nullable: false };
  const plain = resolved(schema);
  if (plain === undefined) return { ...whole, kind: 'json', schema };
  return read(plain, { ...whole, ...(preset !== undefined && { preset }) }, { presets, depth: 0 });
}

interface Place {
  presets: Presets;
  depth: number;
}

function read(schema: Json, given: Common, place: Place): Field {
  if (!isObject(schema)) return { ...given, kind: 'json', schema };
  const [type, nullable] = typeOf(schema);
  const preset = place.presets === 'none' ? undefined : (given.preset ?? schema.default);
  const { preset: _, ...bare } = given;
  const common: Common = {
    ...bare,
    nullable,
    ...(given.pointer !== '' && typeof schema.title === 'string' && { label: schema.title }),
    ...(typeof schema.description === 'string' && { description: schema.description }),
    ...(preset !== undefined && { preset }),
  };
  const json: Field = { ...common, kind: 'json', schema };
  const choices = choicesOf(schema);
  if (choices !== undefined) return choices.length === 0 ? json : { ...common, kind: choices.length > MOST_CARDS ? 'list' : 'cards', choices };
  if (ALTERNATIVES.some((keyword) => keyword in schema)) return json;
  switch (type) {
    case 'boolean':
      return booleanField(common, place.presets);
    case 'string':
      return textField(schema, common);
    case 'number':
    case 'integer':
      return { ...common, kind: 'number', integer: type === 'integer', ...limits(schema) };
    case 'array':
      return listField(schema, common) ?? json;
    case 'object':
      return groupField(schema, common, place) ?? json;
    default:
      return json;
  }
}

/** Keywords that say more than one control can show. */
const ALTERNATIVES = ['anyOf', 'oneOf', 'allOf', 'if', 'not', 'patternProperties', 'prefixItems', 'dependentSchemas'];

function typeOf(schema: JsonObject): [type: string | undefined, nullable: boolean] {
  if (typeof schema.type === 'string') return [schema.type, false];
  if (!Array.isArray(schema.type)) return [undefined, false];
  const types = schema.type.filter((type) => type !== 'null');
  return [types.length === 1 ? String(types[0]) : undefined, types.length < schema.type.length];
}

/** `enum`, or `oneOf` of constants with titles. Nothing when the schema names no values. */
function choicesOf(schema: JsonObject): Choice[] | undefined {
  if (Array.isArray(schema.enum)) return schema.enum.filter((value) => value !== null).map((value) => ({ value, label: shownJson(value) }));
  const named = schema.oneOf ?? schema.anyOf;
  if (!Array.isArray(named) || !named.every((branch) => isObject(branch) && 'const' in branch)) return undefined;
  return (named as JsonObject[]).map((branch) => ({
    value: branch.const ?? null,
    label: typeof branch.title === 'string' ? branch.title : shownJson(branch.const ?? null),
    ...(typeof branch.description === 'string' && { description: branch.description }),
  }));
}

/** A switch always stands somewhere. Where nothing may be chosen beforehand, yes and no are two cards. */
function booleanField(common: Common, presets: Presets): Field {
  if (presets === 'kept') return { ...common, kind: 'switch' };
  return { ...common, kind: 'cards', choices: [{ value: true, label: 'true' }, { value: false, label: 'false' }] };
}

function textField(schema: JsonObject, common: Common): Field {
  const longest = typeof schema.maxLength === 'number' ? schema.maxLength : undefined;
  const example = Array.isArray(schema.examples) && typeof schema.examples[0] === 'string' ? schema.examples[0] : undefined;
  const several = schema.format === 'textarea' || (longest ?? 0) > LONGEST_LINE;
  return {
    ...common,
    kind: several ? 'area' : 'line',
    input: INPUTS[String(schema.format)] ?? 'text',
    ...(longest !== undefined && { longest }),
    ...(example !== undefined && { example }),
  };
}

const INPUTS: Record<string, 'email' | 'url' | 'date'> = { email: 'email', uri: 'url', url: 'url', date: 'date' };

function limits(schema: JsonObject): { least?: number; most?: number } {
  return {
    ...(typeof schema.minimum === 'number' && { least: schema.minimum }),
    ...(typeof schema.maximum === 'number' && { most: schema.maximum }),
  };
}

function listField(schema: JsonObject, common: Common): Field | undefined {
  const { items } = schema;
  if (!isObject(items)) return undefined;
  const choices = choicesOf(items);
  if (choices !== undefined) return choices.length > 0 ? { ...common, kind: 'checks', choices } : undefined;
  if (ALTERNATIVES.some((keyword) => keyword in items)) return undefined;
  const most = typeof schema.maxItems === 'number' ? { most: schema.maxItems } : {};
  if (items.type === 'string') return { ...common, kind: 'tags', of: 'text', ...most };
  if (items.type === 'number' || items.type === 'integer') return { ...common, kind: 'tags', of: items.type, ...most };
  return undefined;
}

function groupField(schema: JsonObject, common: Common, place: Place): Field | undefined {
  const properties = isObject(schema.properties) ? Object.entries(schema.properties) : [];
  const required = Array.isArray(schema.required) ? schema.required : [];
  const known = new Set(properties.map(([name]) => name));
  if (properties.length === 0 || place.depth >= DEEPEST || !required.every((name) => known.has(String(name)))) return undefined;
  const fields = properties.map(([name, property]) => {
    const preset = isObject(common.preset) && Object.hasOwn(common.preset, name) ? common.preset[name] : undefined;
    const given = { pointer: pointerTo(common.pointer, name), label: name, required: required.includes(name), nullable: false };
    return read(property, { ...given, ...(preset !== undefined && { preset }) }, { ...place, depth: place.depth + 1 });
  });
  return { ...common, kind: 'group', fields };
}
