import type { Json } from '@/lib/api/types';
import { isObject, namesOf, pointerTo, shownJson } from './json';

/** What is wrong with a part of an answer. The key names a sentence of the dictionary. */
export interface Complaint {
  pointer: string;
  key: ComplaintKey;
  params?: Record<string, string | number>;
}

export type ComplaintKey =
  | 'required'
  | 'integer'
  | 'number'
  | 'json'
  | 'type'
  | 'choice'
  | 'pattern'
  | 'format'
  | 'minLength'
  | 'maxLength'
  | 'minItems'
  | 'maxItems'
  | 'uniqueItems'
  | 'minimum'
  | 'maximum'
  | 'exclusiveMinimum'
  | 'exclusiveMaximum'
  | 'multipleOf'
  | 'surplus'
  | 'other';

/** A fault as the validator reports it. */
interface Fault {
  keyword: string;
  keywordLocation: string;
  instanceLocation: string;
  error: string;
}

/** The validator's faults as complaints about fields: one for each field, the first that names it. */
export function complaintsOf(faults: Fault[], schema: Json): Complaint[] {
  const complaints = new Map<string, Complaint>();
  for (const fault of faults) {
    const complaint = complaintOf(fault, schema);
    if (complaint !== undefined && !complaints.has(complaint.pointer)) complaints.set(complaint.pointer, complaint);
  }
  return [...complaints.values()];
}

/** Nothing for faults that only say that something below them is wrong. */
function complaintOf(fault: Fault, schema: Json): Complaint | undefined {
  const pointer = decodeURIComponent(fault.instanceLocation.slice(1));
  const limit = valueAt(schema, decodeURIComponent(fault.keywordLocation.slice(1)));
  const { keyword } = fault;
  switch (keyword) {
    case 'properties':
    case 'items':
    case 'allOf':
    case '$ref':
      return undefined;
    case 'required': {
      const name = /property "(.*)"\.$/s.exec(fault.error)?.[1];
      return { pointer: name === undefined ? pointer : pointerTo(pointer, name), key: 'required' };
    }
    case 'enum':
    case 'const':
      return { pointer, key: 'choice', params: { values: (Array.isArray(limit) ? limit : [limit ?? null]).slice(0, 20).map(shownJson).join(', ') } };
    case 'additionalProperties':
      return { pointer, key: 'surplus' };
    case 'type':
    case 'format':
    case 'pattern':
      return { pointer, key: keyword, params: { limit: limit === undefined ? '' : shownJson(limit) } };
    case 'minLength':
    case 'maxLength':
    case 'minItems':
    case 'maxItems':
    case 'minimum':
    case 'maximum':
    case 'exclusiveMinimum':
    case 'exclusiveMaximum':
    case 'multipleOf':
      return { pointer, key: keyword, params: { limit: typeof limit === 'number' ? limit : '' } };
    case 'uniqueItems':
      return { pointer, key: 'uniqueItems' };
    default:
      return { pointer, key: 'other', params: { keyword } };
  }
}

function valueAt(schema: Json, pointer: string): Json | undefined {
  let part: Json | undefined = schema;
  for (const name of namesOf(pointer)) {
    if (Array.isArray(part)) part = part[Number(name)];
    else part = isObject(part) && Object.hasOwn(part, name) ? part[name] : undefined;
  }
  return part;
}

/** The server's `details.fields` by question: its keys are a question's name and the pointer below it. */
export function serverComplaints(fields: Record<string, string>, names: string[]): Record<string, Record<string, string>> {
  const byQuestion: Record<string, Record<string, string>> = {};
  for (const [field, message] of Object.entries(fields)) {
    const name = names.find((candidate) => field === candidate || field.startsWith(`${candidate}/`)) ?? names[0] ?? '';
    const pointer = field.startsWith(name) ? field.slice(name.length) : '';
    (byQuestion[name] ??= {})[pointer] ??= message;
  }
  return byQuestion;
}
