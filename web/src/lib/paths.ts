// Paths of files in running text: `src/lib.rs:12`, `src/app.ts(3,4)`, `File "a.py", line 7`.

export interface Place {
  path: string;
  line: number | null;
}

/** A piece of a text; `place` where it names a file. */
interface Piece {
  text: string;
  place: Place | null;
}

const ENDINGS = new Set(
  `bash bat c cc cfg chat cjs clj cmake conf cpp cs css csv cts cxx dart diff dockerfile env erl ex exs fish gif go gradle graphql h hpp hs htm html ini ipynb java
  jl jpeg jpg js json json5 jsonl jsx kt kts less lock log lua m markdown md mjs mk ml mod mts nix patch pdf php pl plan png properties proto ps1 py pyi r rb rs rst sass scala scss
  sh sql sum svelte svg swift tex tf toml ts tsv tsx txt vue webp xml yaml yml zig zsh`.split(/\s+/),
);
const NAMES = new Set(['Makefile', 'Dockerfile', 'Containerfile', 'LICENSE', 'README', 'CHANGELOG', 'CODEOWNERS', 'Gemfile', 'Rakefile', 'Justfile', 'Procfile', '.gitignore', '.gitattributes', '.editorconfig', '.dockerignore', '.env', '.npmrc']);
const IMAGE = /\.(png|jpe?g|gif|webp|svg)$/i;

const PATH = String.raw`(?:\.{0,2}/)?(?:[\p{L}\p{N}_.@+-]+/)*[\p{L}\p{N}_.@+-]+`;
const LINE = String.raw`(?::(\d{1,7})(?::\d+)?|\((\d{1,7})(?:,\d+)?\)|", line (\d{1,7}))?`;
// Not in the middle of a word, an address or a longer path.
const IN_TEXT = new RegExp(`(?<![\\p{L}\\p{N}_/:@.+~-])(${PATH})${LINE}`, 'gu');
const WHOLE = new RegExp(`^(${PATH})${LINE}$`, 'u');

/** Hosts look like paths. */
const isHost = (path: string) => /^(?:www\.|[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|dev|app)(?:\/|$))/i.test(path);

function isFile(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const dot = name.lastIndexOf('.');
  return !isHost(path) && (NAMES.has(name) || (dot > 0 && ENDINGS.has(name.slice(dot + 1).toLowerCase())));
}

const lineOf = (numbers: (string | undefined)[]) => Number(numbers.find((number) => number !== undefined) ?? 0) || null;

/** The place that a text is as a whole, such as code in backticks. */
export function placeOf(text: string): Place | null {
  const [, path = '', ...numbers] = WHOLE.exec(text) ?? [];
  return path !== '' && isFile(path) ? { path, line: lineOf(numbers) } : null;
}

/** A text with the places in it. A bare name needs a folder or a line, or every "node.js" would be one. */
export function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  let done = 0;
  for (const match of text.matchAll(IN_TEXT)) {
    const [whole, found = '', ...numbers] = match;
    const line = lineOf(numbers);
    // The end of a sentence is no part of a path.
    const path = line === null ? found.replace(/[.+-]+$/, '') : found;
    if (!isFile(path) || (line === null && !path.includes('/'))) continue;
    const end = match.index + (line === null ? path.length : whole.length);
    if (match.index > done) pieces.push({ text: text.slice(done, match.index), place: null });
    pieces.push({ text: text.slice(match.index, end), place: { path, line } });
    done = end;
  }
  if (done < text.length) pieces.push({ text: text.slice(done), place: null });
  return pieces;
}

/** A link of a Markdown text that leads to a file of the workspace: `docs/a.md`, `src/lib.rs#L12`. */
export function placeOfLink(href: string): Place | null {
  const [path = '', mark = ''] = href.split('#');
  if (/^[a-z][a-z0-9+.-]*:|^\/\//i.test(path)) return null;
  let plain = path;
  try {
    plain = decodeURIComponent(path);
  } catch {
    // A stray percent sign is part of the name.
  }
  const [, line] = /^L(\d{1,7})/.exec(mark) ?? [];
  const place = placeOf(plain);
  return place && { path: place.path, line: line === undefined ? place.line : Number(line) };
}

export const isImage = (path: string): boolean => IMAGE.test(path);

/** As the server names files: from the root of the workspace, which is `root` on its disk. */
export function inWorkspace(path: string, root: string | undefined): string {
  const inside = root !== undefined && path.startsWith(`${root}/`) ? path.slice(root.length) : path;
  const parts: string[] = [];
  for (const part of inside.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}`;
}
