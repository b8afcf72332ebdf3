// A unified diff of one file, as rows to draw. Pure.

/** A line of a hunk, in the shape that the colouring takes. */
export type Change =
  | { type: 'insert'; isInsert: true; lineNumber: number; content: string }
  | { type: 'delete'; isDelete: true; lineNumber: number; content: string }
  | { type: 'normal'; isNormal: true; oldLineNumber: number; newLineNumber: number; content: string };

export interface Hunk {
  content: string;
  oldStart: number;
  oldLines: number;
  newStart: number;
  newLines: number;
  /** What git writes after the second `@@`. */
  heading: string;
  changes: Change[];
  /** By which the server knows the changes in it. */
  numbers: number[];
}

/** A longer line is cut: no reader needs it whole, and no browser lays it out fast. */
export const LONGEST_LINE = 2_000;

const HEADER = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/;

/** The hunks of the first file in a diff. What is not part of one, such as the remark that the diff was cut, is left out. */
export function parseHunks(diff: string): Hunk[] {
  const hunks: Hunk[] = [];
  let [old, young] = [0, 0];
  let [oldLeft, newLeft] = [0, 0];
  for (const line of diff.split('\n')) {
    const hunk = hunks.at(-1);
    const sign = line[0];
    if (hunk && oldLeft > 0 && sign === '-') {
      hunk.changes.push({ type: 'delete', isDelete: true, lineNumber: old++, content: line.slice(1) });
      oldLeft -= 1;
    } else if (hunk && newLeft > 0 && sign === '+') {
      hunk.changes.push({ type: 'insert', isInsert: true, lineNumber: young++, content: line.slice(1) });
      newLeft -= 1;
    } else if (hunk && oldLeft > 0 && newLeft > 0 && sign === ' ') {
      hunk.changes.push({ type: 'normal', isNormal: true, oldLineNumber: old++, newLineNumber: young++, content: line.slice(1) });
      oldLeft -= 1;
      newLeft -= 1;
    } else {
      const header = HEADER.exec(line);
      if (!header) continue;
      const [, oldStart = '0', oldLines = '1', newStart = '0', newLines = '1', heading = ''] = header;
      [old, young, oldLeft, newLeft] = [Number(oldStart), Number(newStart), Number(oldLines), Number(newLines)];
      hunks.push({ content: line, oldStart: old, oldLines: oldLeft, newStart: young, newLines: newLeft, heading, changes: [], numbers: [] });
    }
  }
  return hunks;
}

/** A diff of several files, by file. The name is that of the new file, or of the old one where it goes. */
export function filesOf(diff: string): { path: string; hunks: Hunk[] }[] {
  return diff.split(/^(?=diff --git )/m).flatMap((one) => {
    const hunks = parseHunks(one);
    const [, young] = /^\+\+\+ (?:b\/)?(.*)$/m.exec(one) ?? [];
    const [, old] = /^--- (?:a\/)?(.*)$/m.exec(one) ?? [];
    return hunks.length > 0 ? [{ path: (young === '/dev/null' ? old : young) ?? '', hunks }] : [];
  });
}

type Side = 'old' | 'new';

/** A line by the number that the reader sees: of the new file, or of the old one where it was deleted. */
export interface Line {
  side: Side;
  number: number;
  text: string;
}

export const lineOf = (change: Change): Line =>
  change.type === 'delete' ? { side: 'old', number: change.lineNumber, text: change.content } : { side: 'new', number: change.type === 'insert' ? change.lineNumber : change.newLineNumber, text: change.content };

/** Two columns: deleted lines stand beside the added ones that follow them. */
export function paired(changes: Change[]): [Change | null, Change | null][] {
  const pairs: [Change | null, Change | null][] = [];
  let gone: Change[] = [];
  let come: Change[] = [];
  const flush = () => {
    for (let place = 0; place < Math.max(gone.length, come.length); place += 1) pairs.push([gone[place] ?? null, come[place] ?? null]);
    [gone, come] = [[], []];
  };
  for (const change of changes) {
    if (change.type === 'delete') {
      if (come.length > 0) flush();
      gone.push(change);
    } else if (change.type === 'insert') come.push(change);
    else {
      flush();
      pairs.push([change, change]);
    }
  }
  flush();
  return pairs;
}
