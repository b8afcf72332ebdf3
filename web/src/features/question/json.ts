import type { Json, JsonObject } from '@/lib/api/types';

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Equal as JSON: the order of an object's members does not matter. */
export function sameJson(one: Json | undefined, other: Json | undefined): boolean {
  if (one === other) return true;
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, index) => sameJson(item, other[index]));
  }
  if (!isObject(one) || !isObject(other)) return false;
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => Object.hasOwn(other, name) && sameJson(one[name], other[name]));
}

/** A text as it is, anything else as JSON. */
export function shownJson(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The pointer of a member; `~` and `/` in its name are escaped as RFC 6901 says. */
export function pointerTo(pointer: string, name: string): string {
  return `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** The names on the way that a pointer describes. */
export function namesOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
}
