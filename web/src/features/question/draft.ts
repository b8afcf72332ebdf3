import type { Complaint } from './complaint';
import type { Field } from './field';
import type { Json } from '@/lib/api/types';
import { isObject, namesOf, sameJson } from './json';

/** What has been entered so far, by the field's pointer: texts as typed, choices by their place in the list. */
export type Draft = Record<string, DraftValue>;
export type DraftValue = string | boolean | string[] | number[];

/** What the form shows before anybody has touched it. */
export function startingDraft(field: Field): Draft {
  const draft: Draft = {};
  fill(field, draft);
  return draft;
}

function fill(field: Field, draft: Draft): void {
  const { preset } = field;
  if (field.kind === 'group') {
    for (const part of field.fields) fill(part, draft);
    return;
  }
  if (preset === undefined || preset === null) return;
  const start = asEntered(field, preset);
  if (start !== undefined) draft[field.pointer] = start;
}

function asEntered(field: Exclude<Field, { kind: 'group' }>, value: Json): DraftValue | undefined {
  switch (field.kind) {
    case 'switch':
      return typeof value === 'boolean' ? value : undefined;
    case 'cards':
    case 'list':
      return placesOf(field.choices, [value]);
    case 'checks':
      return Array.isArray(value) ? placesOf(field.choices, value) : undefined;
    case 'tags':
      return Array.isArray(value) ? value.map(String) : undefined;
    case 'line':
    case 'area':
      return typeof value === 'string' ? value : undefined;
    case 'number':
      return typeof value === 'number' ? String(value) : undefined;
    case 'json':
      return JSON.stringify(value, null, 2);
  }
}

function placesOf(choices: { value: Json }[], values: Json[]): number[] {
  return values.map((value) => choices.findIndex((choice) => sameJson(choice.value, value))).filter((place) => place >= 0);
}

/** The answer that the form stands for; `undefined` where nothing was entered and nothing has to be. */
interface Assembled {
  value: Json | undefined;
  complaints: Complaint[];
}

export function assemble(field: Field, draft: Draft): Assembled {
  const complaints: Complaint[] = [];
  const value = valueOf(field, draft, complaints);
  return { value, complaints };
}

function valueOf(field: Field, draft: Draft, complaints: Complaint[]): Json | undefined {
  if (field.kind === 'group') return groupValue(field, draft, complaints);
  const value = entered(field, draft[field.pointer], complaints);
  if (value !== undefined || !field.required) return value;
  if (field.nullable) return null;
  if (!complaints.some((complaint) => complaint.pointer === field.pointer)) complaints.push({ pointer: field.pointer, key: 'required' });
  return undefined;
}

/** An optional object of which nothing was entered is left out as a whole, also if it would need some of its parts. */
function groupValue(field: Extract<Field, { kind: 'group' }>, draft: Draft, complaints: Complaint[]): Json | undefined {
  const own: Complaint[] = [];
  const members = field.fields.map((part) => [namesOf(part.pointer).at(-1) ?? '', valueOf(part, draft, own)] as const);
  const given = members.filter((member): member is readonly [string, Json] => member[1] !== undefined);
  const untouched = given.length === 0 && own.every((complaint) => complaint.key === 'required');
  if (untouched && !field.required) return undefined;
  complaints.push(...own);
  return Object.fromEntries(given);
}

function entered(field: Exclude<Field, { kind: 'group' }>, raw: DraftValue | undefined, complaints: Complaint[]): Json | undefined {
  switch (field.kind) {
    case 'switch':
      return typeof raw === 'boolean' ? raw : field.required ? false : undefined;
    case 'cards':
    case 'list':
      return Array.isArray(raw) && typeof raw[0] === 'number' ? field.choices[raw[0]]?.value : undefined;
    case 'checks':
      return checked(field, raw);
    case 'tags':
      return tags(field, raw, complaints);
    case 'line':
    case 'area':
      return typeof raw === 'string' && raw !== '' ? raw : undefined;
    case 'number':
      return typeof raw === 'string' && raw.trim() !== '' ? number(raw, field.integer, field.pointer, complaints) : undefined;
    case 'json':
      return typeof raw === 'string' && raw.trim() !== '' ? parsed(raw, field.pointer, complaints) : undefined;
  }
}

/** In the order of the choices. Nothing ticked is an empty list where a list is asked for. */
function checked(field: Extract<Field, { kind: 'checks' }>, raw: DraftValue | undefined): Json | undefined {
  const places = Array.isArray(raw) ? (raw as number[]) : [];
  if (places.length === 0 && !field.required) return undefined;
  return field.choices.filter((_, place) => places.includes(place)).map((choice) => choice.value);
}

function tags(field: Extract<Field, { kind: 'tags' }>, raw: DraftValue | undefined, complaints: Complaint[]): Json | undefined {
  const texts = Array.isArray(raw) ? raw.map(String) : [];
  if (texts.length === 0 && !field.required) return undefined;
  if (field.of === 'text') return texts;
  const numbers = texts.map((text) => number(text, field.of === 'integer', field.pointer, complaints));
  return numbers.every((value) => value !== undefined) ? numbers : undefined;
}

function number(text: string, integer: boolean, pointer: string, complaints: Complaint[]): number | undefined {
  const value = Number(text.trim());
  // A whole number that this page can't hold exactly would be sent as another one.
  const fits = integer ? Number.isSafeInteger(value) : Number.isFinite(value);
  if (fits) return value;
  complaints.push({ pointer, key: integer ? 'integer' : 'number' });
  return undefined;
}

function parsed(text: string, pointer: string, complaints: Complaint[]): Json | undefined {
  const read = readJson(text);
  if ('value' in read) return read.value;
  complaints.push({ pointer, key: 'json', params: { why: read.why } });
  return undefined;
}

/** JSON as typed, or why it can't be read. */
export function readJson(text: string): { value: Json } | { why: string } {
  try {
    return { value: JSON.parse(text) as Json };
  } catch (error) {
    return { why: error instanceof Error ? error.message : String(error) };
  }
}

/** A draft that was kept, if it can still be one; what does not fit is left out. */
export function readDraft(raw: unknown): Draft {
  if (!isObject(raw)) return {};
  const fits = (value: Json) =>
    typeof value === 'string' || typeof value === 'boolean' || (Array.isArray(value) && value.every((item) => typeof item === typeof value[0]));
  return Object.fromEntries(Object.entries(raw).filter(([, value]) => fits(value))) as Draft;
}
