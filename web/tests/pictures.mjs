// Compares pictures of pages by blocks: a button that moved counts, the edge of a letter does not.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decode, encode } from './png.mjs';

const FOLDER = new URL('./pictures/', import.meta.url).pathname;
/** Where pictures that differ are put. */
const DIFFERING = new URL('../../target/pictures/', import.meta.url).pathname;
/** The edge of a block in pixels: about as wide as a letter. */
const BLOCK = 8;
/** How far the mean of a block may be off, of 255. Other antialiasing moves hardly a block by more than 20, an icon that moved six or more by 24. */
const TOLERANCE = 22;
/** Blocks that may differ: fewer than the smallest icon button has. */
const MOST_BLOCKS = 3;

/** The mean colour of each block. */
function blocksOf({ width, height, pixels }) {
  const columns = Math.ceil(width / BLOCK);
  const rows = Math.ceil(height / BLOCK);
  const sums = new Float64Array(columns * rows * 3);
  const counts = new Float64Array(columns * rows);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const block = Math.floor(y / BLOCK) * columns + Math.floor(x / BLOCK);
      counts[block] += 1;
      for (let part = 0; part < 3; part += 1) sums[block * 3 + part] += pixels[(y * width + x) * 3 + part];
    }
  }
  return { columns, rows, means: sums.map((sum, index) => sum / counts[Math.floor(index / 3)]) };
}

/** The blocks that differ, by their places in pixels. */
export function differences(one, other) {
  if (one.width !== other.width || one.height !== other.height) return [{ x: 0, y: 0, by: 255 }];
  const [a, b] = [blocksOf(one), blocksOf(other)];
  return Array.from({ length: a.columns * a.rows }, (_, block) => ({
    x: (block % a.columns) * BLOCK,
    y: Math.floor(block / a.columns) * BLOCK,
    by: Math.max(...[0, 1, 2].map((part) => Math.abs(a.means[block * 3 + part] - b.means[block * 3 + part]))),
  })).filter(({ by }) => by > TOLERANCE);
}

/** The picture of a screen with twice the pixels, at half its size: the same page with other antialiasing. */
export function halved({ width, height, pixels }) {
  const half = { width: width / 2, height: height / 2, pixels: Buffer.alloc(pixels.length / 4) };
  const at = (x, y, part) => pixels[(y * width + x) * 3 + part];
  for (let y = 0; y < half.height; y += 1) {
    for (let x = 0; x < half.width; x += 1) {
      for (let part = 0; part < 3; part += 1) half.pixels[(y * half.width + x) * 3 + part] = (at(2 * x, 2 * y, part) + at(2 * x + 1, 2 * y, part) + at(2 * x, 2 * y + 1, part) + at(2 * x + 1, 2 * y + 1, part)) / 4;
    }
  }
  return half;
}

export const isSame = (one, other) => differences(one, other).length <= MOST_BLOCKS;

/** What is wrong with a page's picture, or nothing. `PICTURES=renew` stores it instead. */
export function compare(name, shot) {
  const file = join(FOLDER, `${name}.png`);
  const now = decode(shot);
  if (process.env.PICTURES === 'renew') {
    mkdirSync(FOLDER, { recursive: true });
    // What looks the same keeps its file.
    if (!existsSync(file) || differences(decode(readFileSync(file)), now).length > 0) writeFileSync(file, encode(now));
    return null;
  }
  if (!existsSync(file)) return `${name}: there is no picture yet. Run \`make pictures\`.`;
  const stored = decode(readFileSync(file));
  if (isSame(stored, now)) return null;
  mkdirSync(DIFFERING, { recursive: true });
  writeFileSync(join(DIFFERING, `${name}.png`), shot);
  writeFileSync(join(DIFFERING, `${name}.difference.png`), encode(marked(now, differences(stored, now))));
  const places = differences(stored, now).slice(0, 8).map(({ x, y, by }) => `${x},${y} by ${Math.round(by)}`);
  return `${name}: looks different at ${places.join('; ')}. The picture is in target/pictures. If it is as it should be, run \`make pictures\`.`;
}

/** The picture with a red frame around what differs. */
function marked({ width, height, pixels }, blocks) {
  const copy = Buffer.from(pixels);
  const paint = (x, y) => x < width && y < height && copy.set([255, 0, 0], (y * width + x) * 3);
  for (const { x, y } of blocks) {
    for (let step = 0; step < BLOCK; step += 1) for (const [left, top] of [[step, 0], [0, step], [step, BLOCK - 1], [BLOCK - 1, step]]) paint(x + left, y + top);
  }
  return { width, height, pixels: copy };
}
