// The change that a call would make to a text file, as numbered lines.
import { align } from '@/lib/align';
import type { JsonObject } from '@/lib/api/types';

export interface ChangedLine {
  text: string;
  change: 'same' | 'added' | 'removed';
  /** In the file as it is now, and as it would be; nothing where the place is not known. */
  before?: number;
  after?: number;
  /** The last line of a file that does not end with a line break. */
  isOpen?: boolean;
}

/** Lines that stay as they are, and are not shown. */
interface Gap {
  hidden: number;
}

export interface LineChange {
  rows: (ChangedLine | Gap)[];
  added: number;
  removed: number;
  /** What the reader has to know about it. */
  note?: 'replacesAll' | 'notFound' | 'ambiguous' | 'noText' | 'unknown';
  /** How often the text is there that is to be replaced. */
  places?: number;
  /** Whether the file is there already. */
  isNew: boolean;
}

/** The file as it is now. */
export type Present = { state: 'text'; content: string } | { state: 'absent' | 'noText' | 'unknown' };

export function changeOf(tool: string, args: JsonObject, present: Present): LineChange {
  // The server keeps the line ends that a file has.
  const content = present.state === 'text' ? present.content.replaceAll('\r\n', '\n') : '';
  const isNew = present.state === 'absent';
  const plain = (value: unknown) => String(value ?? '').replaceAll('\r\n', '\n');
  if (tool === 'write') {
    const note = present.state === 'noText' || present.state === 'unknown' ? { note: present.state } : {};
    return { ...compared(content, plain(args.content), 'numbered'), ...note, isNew };
  }
  const [old, fresh] = [plain(args.old_string), plain(args.new_string)];
  const places = old === '' ? 0 : content.split(old).length - 1;
  const pieces = { ...compared(old, fresh, 'pieces'), isNew };
  if (present.state !== 'text') return { ...pieces, note: present.state === 'absent' ? 'notFound' : present.state };
  if (places === 0) return { ...pieces, note: 'notFound' };
  if (places > 1 && args.replace_all !== true) return { ...pieces, note: 'ambiguous', places };
  return { ...compared(content, content.split(old).join(fresh), 'numbered'), isNew, ...(places > 1 && { note: 'replacesAll' as const, places }) };
}

/** Lines around a change that are shown with it. */
const CONTEXT = 3;
/** The most rows that are drawn; what is more is counted. */
const MOST_ROWS = 2000;

function compared(before: string, after: string, kind: 'numbered' | 'pieces'): Pick<LineChange, 'rows' | 'added' | 'removed'> {
  let [old, young] = [0, 0];
  const lines = align(linesOf(before), linesOf(after), (one, other) => one === other).map(([was, is]): ChangedLine => {
    const change = was === undefined ? 'added' : is === undefined ? 'removed' : 'same';
    const line = is ?? was ?? '';
    if (was !== undefined) old += 1;
    if (is !== undefined) young += 1;
    const numbers = kind === 'pieces' ? {} : { ...(was !== undefined && { before: old }), ...(is !== undefined && { after: young }) };
    return { text: line.replace(/\n$/, '').replaceAll('\r', '␍'), change, ...numbers, ...(kind === 'numbered' && !line.endsWith('\n') && { isOpen: true }) };
  });
  const count = (change: ChangedLine['change']) => lines.filter((line) => line.change === change).length;
  const rows = kind === 'pieces' ? lines : withGaps(lines);
  const shown = rows.length > MOST_ROWS ? [...rows.slice(0, MOST_ROWS), { hidden: rows.length - MOST_ROWS }] : rows;
  return { rows: shown, added: count('added'), removed: count('removed') };
}

/** Without the lines that are far from every change. */
function withGaps(lines: ChangedLine[]): (ChangedLine | Gap)[] {
  const near = new Set<number>();
  lines.forEach((line, place) => {
    if (line.change === 'same') return;
    for (let other = place - CONTEXT; other <= place + CONTEXT; other += 1) near.add(other);
  });
  const rows: (ChangedLine | Gap)[] = [];
  lines.forEach((line, place) => {
    const last = rows.at(-1);
    if (near.has(place)) rows.push(line);
    else if (last !== undefined && 'hidden' in last) last.hidden += 1;
    else rows.push({ hidden: 1 });
  });
  return rows;
}

/** With their ends, so that a missing one at the end of the file is a difference. */
function linesOf(content: string): string[] {
  return content.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}
