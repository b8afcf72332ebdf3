// Converts terminal output to text parts with class names. Keeps colours and weights, and drops all other control sequences.

interface Painted {
  text: string;
  /** Class names of `styles.css`; empty for plain text. */
  look: string;
}

const COLOURS = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const;
type Colour = (typeof COLOURS)[number];

interface Pen {
  colour: Colour | null;
  ground: Colour | null;
  marks: Set<'bold' | 'dim' | 'italic' | 'underline' | 'strike' | 'inverse'>;
}

/** After this many parts, the rest is drawn plain. */
const MOST = 2_000;
/* oxlint-disable no-control-regex -- control characters are the subject here */
const ESCAPE = /\x1b(?:\[([0-9;:]*)m|\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|[()*+#%][\s\S]|[@-Z\\^_a-z0-9=>]?)/g;
const CONTROL = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g;
/* oxlint-enable no-control-regex */

const MARKS = { 1: 'bold', 2: 'dim', 3: 'italic', 4: 'underline', 7: 'inverse', 9: 'strike' } as const;
const UNMARKS: Record<number, (keyof typeof MARKS)[]> = { 22: [1, 2], 23: [3], 24: [4], 27: [7], 29: [9] };

/** An overwritten line shows its last text. */
function overwritten(text: string): string {
  if (!text.includes('\r')) return text;
  const last = (line: string) => line.slice(line.lastIndexOf('\r') + 1);
  return text.replaceAll('\r\n', '\n').split('\n').map((line) => last(line.endsWith('\r') ? line.slice(0, -1) : line)).join('\n');
}

export function paintedOf(printed: string): Painted[] {
  const text = overwritten(printed);
  if (!text.includes('\x1b')) return text === '' ? [] : [{ text: text.replace(CONTROL, ''), look: '' }];
  const pieces: Painted[] = [];
  const pen: Pen = { colour: null, ground: null, marks: new Set() };
  const put = (piece: string) => {
    const shown = piece.replace(CONTROL, '');
    if (shown === '') return;
    const look = pieces.length < MOST ? lookOf(pen) : '';
    const last = pieces.at(-1);
    if (last?.look === look) last.text += shown;
    else pieces.push({ text: shown, look });
  };
  let done = 0;
  for (const match of text.matchAll(ESCAPE)) {
    put(text.slice(done, match.index));
    done = match.index + match[0].length;
    if (match[1] !== undefined) set(pen, match[1].split(/[;:]/).map(Number));
  }
  put(text.slice(done));
  return pieces;
}

function set(pen: Pen, codes: number[]): void {
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] ?? 0;
    if (code === 0) Object.assign(pen, { colour: null, ground: null, marks: new Set() });
    else if (code in MARKS) pen.marks.add(MARKS[code as keyof typeof MARKS]);
    else if (code in UNMARKS) UNMARKS[code]?.forEach((mark) => pen.marks.delete(MARKS[mark]));
    else if (code === 38 || code === 48) {
      const [colour, used] = extended(codes.slice(at + 1));
      pen[code === 38 ? 'colour' : 'ground'] = colour;
      at += used;
    } else if (code === 39) pen.colour = null;
    else if (code === 49) pen.ground = null;
    else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) pen.colour = COLOURS[code % 10] ?? null;
    else if ((code >= 40 && code <= 47) || (code >= 100 && code <= 107)) pen.ground = COLOURS[code % 10] ?? null;
  }
}

/** The nearest of the eight colours, and how many numbers encoded it. */
function extended([kind, ...values]: number[]): [Colour | null, number] {
  if (kind === 2) return [nearest(values[0] ?? 0, values[1] ?? 0, values[2] ?? 0), 4];
  if (kind !== 5) return [null, 0];
  const index = values[0] ?? 0;
  if (index < 16) return [COLOURS[index % 8] ?? null, 2];
  if (index > 231) return [index < 244 ? 'black' : 'white', 2];
  const cube = index - 16;
  const level = (step: number) => step * 51;
  return [nearest(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6)), 2];
}

/** The strong ones of red, green and blue are the bits of the eight colours. */
function nearest(red: number, green: number, blue: number): Colour {
  const strongest = Math.max(red, green, blue);
  const isStrong = (value: number) => strongest > 60 && value > strongest * 0.62;
  return COLOURS[(isStrong(red) ? 1 : 0) + (isStrong(green) ? 2 : 0) + (isStrong(blue) ? 4 : 0)] ?? 'white';
}

function lookOf({ colour, ground, marks }: Pen): string {
  return [...(colour ? [`ansi-${colour}`] : []), ...(ground ? [`ansi-on-${ground}`] : []), ...[...marks].map((mark) => `ansi-${mark}`)].join(' ');
}
