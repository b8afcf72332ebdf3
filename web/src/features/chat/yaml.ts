// Plain fields as YAML. The server sends them as JSON; the file has them like this.
import type { Json, JsonObject } from '@/lib/api/types';

/** Words that YAML would read as something else than a text. */
const SPECIAL = /^(?:true|false|yes|no|on|off|null|~|-?\d.*)$/i;
/** An identifier, a path or a moment needs no quotes. */
const PLAIN = /^[A-Za-z0-9_/][\w/.:+-]*$/;
const MOMENT = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function scalar(value: Json): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  const isPlain = MOMENT.test(value) || UUID.test(value) || (PLAIN.test(value) && !SPECIAL.test(value) && !value.endsWith(':'));
  return isPlain ? value : JSON.stringify(value);
}

export const asYaml = (fields: JsonObject): string => ['---', ...Object.entries(fields).map(([name, value]) => `${name}: ${scalar(value)}`), '---'].join('\n');
