const BEFORE = 30;
const AFTER = 120;

/** The piece of a text in which the words stand, on one line. */
export function around(text: string, sought: string): string {
  const flat = text.replace(/\s+/g, ' ');
  const at = Math.max(0, flat.toLowerCase().indexOf(sought.toLowerCase().replace(/\s+/g, ' ')));
  const start = Math.max(0, at - BEFORE);
  const end = at + AFTER;
  return `${start > 0 ? '…' : ''}${flat.slice(start, end)}${end < flat.length ? '…' : ''}`;
}
