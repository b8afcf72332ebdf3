// Flowcharts as the renderer reads them: one statement in a line, each link with spaces around it and its label between bars.
// The renderer passes over what it can't read, so everything here is read first, and what is left over is refused.

/** A statement that can't be drawn. */
export class Undrawable extends Error {}

const HEADER = /^(?:graph|flowchart)(?:\s+(TD|TB|LR|BT|RL))?\s*$/i;
/** Passed on as they are. */
const PLAIN = /^(?:classDef|class|style|subgraph)\s|^direction\s+(?:TD|TB|LR|BT|RL)$|^end$/;
/** Say nothing about what is drawn. */
const IGNORED = /^(?:linkStyle|click)\s|^%%/;
/** A dash inside of an id is no beginning of a link. */
const ID = /^(?:[\p{L}\p{N}_]|[-.](?=[\p{L}\p{N}_]))+/u;
const CLASS = /^:::[\w-]+/;
/** What opens and what closes each shape, longer ones first. */
const SHAPES = [['(((', ')))'], ['([', '])'], ['((', '))'], ['[[', ']]'], ['[(', ')]'], ['[/', '\\]'], ['[\\', '/]'], ['{{', '}}'], ['[', ']'], ['(', ')'], ['{', '}'], ['>', ']']] as const;
const LINK = /^(<)?(?:(-{2,})(>|(?<=---))|(-\.+-)(>)?|(={2,})(>|(?<====)))(?:\s*\|([^|]*)\|)?/;
const LABELLED = /^(<)?(?:--(?![->])\s*(.+?)\s*--+(>|-)|-\.(?![-.])\s*(.+?)\s*\.+-(>)?|==(?![=>])\s*(.+?)\s*==+(>|=))/;

/** The text of a diagram as the renderer reads it; kinds other than flowcharts stay as they are. */
export function readable(code: string): string {
  const [first = '', ...rest] = statements(code);
  const header = HEADER.exec(first);
  if (!header) return code;
  return [`graph ${(header[1] ?? 'TD').toUpperCase()}`, ...rest.filter((one) => !IGNORED.test(one)).map((one) => (PLAIN.test(one) ? one : edges(one)))].join('\n');
}

/** Cut at the ends of lines, and at semicolons that are in no label. */
function statements(code: string): string[] {
  return code.split('\n').filter((line) => !line.trim().startsWith('%%')).flatMap((line) => line.match(/(?:"[^"]*"|\|[^|]*\||[^;"|]|["|])+/g) ?? []).map((one) => one.trim()).filter((one) => one !== '');
}

/** Nodes and the links between them. */
function edges(statement: string): string {
  const reader = new Reader(statement);
  const parts = [reader.nodes()];
  while (!reader.isDone) parts.push(reader.link(), reader.nodes());
  return parts.join(' ');
}

class Reader {
  private rest: string;

  constructor(private readonly statement: string) {
    this.rest = statement;
  }

  get isDone(): boolean {
    return this.rest.trim() === '';
  }

  nodes(): string {
    const found = [this.node()];
    while (this.take(/^&/)) found.push(this.node());
    return found.join(' & ');
  }

  link(): string {
    const plain = this.take(LINK);
    if (plain) {
      const [, start = '', solid, solidEnd, dotted, dottedEnd = '', , thickEnd, label] = plain;
      const link = solid ? (solidEnd === '>' ? '-->' : '---') : dotted ? `-.-${dottedEnd}` : thickEnd === '>' ? '==>' : '===';
      return `${start}${link}${bars(label)}`;
    }
    const [, start = '', solid, solidEnd, dotted, dottedEnd = '', thick, thickEnd] = this.take(LABELLED) ?? this.refuse();
    const link = solid ? (solidEnd === '>' ? '-->' : '---') : dotted ? `-.-${dottedEnd}` : thickEnd === '>' ? '==>' : '===';
    return `${start}${link}${bars(solid ?? dotted ?? thick)}`;
  }

  private node(): string {
    const [id] = this.take(ID) ?? this.refuse();
    const shape = SHAPES.find(([open]) => this.rest.startsWith(open));
    const label = shape && this.label(shape);
    return `${idOf(id)}${label ?? (idOf(id) === id ? '' : `[${id}]`)}${this.take(CLASS)?.[0] ?? ''}`;
  }

  private label([open, close]: readonly [string, string]): string {
    const quoted = /^\s*"([^"]*)"\s*/.exec(this.rest.slice(open.length));
    const length = open.length + (quoted ? quoted[0].length : this.rest.slice(open.length).indexOf(close));
    if (length < open.length || !this.rest.startsWith(close, length)) this.refuse();
    const text = quoted?.[1] ?? this.rest.slice(open.length, length);
    this.rest = this.rest.slice(length + close.length);
    return `${open}${harmless(text, open, close)}${close}`;
  }

  private take(pattern: RegExp): RegExpExecArray | null {
    this.rest = this.rest.trimStart();
    const found = pattern.exec(this.rest);
    if (found) this.rest = this.rest.slice(found[0].length);
    return found;
  }

  private refuse(): never {
    throw new Undrawable(this.statement);
  }
}

const bars = (label: string | undefined) => (label?.trim() ? `|${label.trim().replace(/^"(.*)"$/, '$1').replaceAll('|', '¦')}|` : '');

/** The renderer knows plain letters only. */
const idOf = (id: string) => (/^\w+(?:-\w+)*$/.test(id) ? id : `n${[...id].map((letter) => letter.codePointAt(0)?.toString(36)).join('_')}`);

/** A label in which the renderer sees neither another shape nor an early end. */
function harmless(text: string, open: string, close: string): string {
  const wide: Record<string, string> = { ']': '］', ')': '）', '}': '｝' };
  const inner = text.replaceAll(/[\])}]/g, (mark) => (close.includes(mark) ? (wide[mark] ?? mark) : mark)).replaceAll(/<br\s*\/?>/gi, ' ');
  return open.length === 1 && /^[([{/\\]/.test(inner) ? ` ${inner}` : inner;
}
