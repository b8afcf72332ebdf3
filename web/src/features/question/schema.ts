import type { Json, JsonObject } from '@/lib/api/types';
import { isObject, namesOf } from './json';

/** More than any form has; a schema that grows beyond it by its references is shown as a JSON editor. */
const MOST_NODES = 2000;

/**
 * The schema with every reference to its own parts replaced by that part.
 * Nothing when one leads nowhere, outside, or back to itself.
 */
export function resolved(schema: Json): Json | undefined {
  let nodes = 0;
  const walk = (node: Json, open: string[]): Json => {
    nodes += 1;
    if (nodes > MOST_NODES) throw new Unresolvable();
    if (Array.isArray(node)) return node.map((item) => walk(item, open));
    if (!isObject(node)) return node;
    if (typeof node.$ref !== 'string') return members(node, open);
    const { $ref, ...beside } = node;
    if (open.includes($ref as string)) throw new Unresolvable();
    const target = walk(partAt(schema, $ref as string), [...open, $ref as string]);
    return isObject(target) ? { ...target, ...(members(beside, open) as JsonObject) } : target;
  };
  const members = (node: JsonObject, open: string[]): Json =>
    Object.fromEntries(
      Object.entries(node)
        .filter(([name]) => name !== '$defs' && name !== 'definitions')
        .map(([name, value]) => [name, walk(value, open)]),
    );
  try {
    return walk(schema, []);
  } catch (error) {
    if (error instanceof Unresolvable) return undefined;
    throw error;
  }
}

class Unresolvable extends Error {}

function partAt(schema: Json, reference: string): Json {
  if (!reference.startsWith('#/')) throw new Unresolvable();
  let part: Json | undefined = schema;
  for (const name of namesOf(decoded(reference.slice(1)))) {
    part = isObject(part) && Object.hasOwn(part, name) ? part[name] : undefined;
  }
  if (part === undefined) throw new Unresolvable();
  return part;
}

function decoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    throw new Unresolvable();
  }
}
