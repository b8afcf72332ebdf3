// The colours of styles.css have the contrast that people need, on each ground they stand on, in light and dark.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

const css = readFileSync('src/styles.css', 'utf8');

/** The tokens that a block of the stylesheet sets. */
function tokensOf(selector: string): Record<string, string> {
  const block = css.slice(css.indexOf(`${selector} {`)).split('}')[0] ?? '';
  return Object.fromEntries([...block.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, name, value]) => [name, value]));
}

function luminance(colour: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255).map((part) => (part <= 0.040_45 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: string, b: string): number {
  const [high = 0, low = 0] = [luminance(a), luminance(b)].toSorted((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
}

const GROUNDS = ['bg', 'surface', 'sunken', 'raised'];
const CODE = ['fg', 'fg2', 'code-keyword', 'code-type', 'code-string', 'code-number'];
const TEXT: [string[], string[]][] = [
  [['fg', 'fg2', 'fg3', 'plan', 'act', 'critical', 'major'], GROUNDS],
  [['amber', 'teal', 'purple', 'orange'], GROUNDS],
  [['fg', 'fg2', 'fg3', 'plan'], ['plan-soft']],
  [['fg', 'fg2', 'fg3', 'act'], ['act-soft', 'added']],
  [['fg', 'fg2', 'critical'], ['critical-soft', 'deleted']],
  [['fg', 'fg2', 'major'], ['major-soft']],
  [['on-primary'], ['primary']],
  [['on-mode'], ['plan', 'act']],
  [CODE, ['bg', 'surface', 'added', 'deleted', 'mark']],
  [['fg'], ['added-word', 'deleted-word', 'mark', 'line2']],
];
const SHAPES: [string[], string[]][] = [
  [['fg', 'control'], GROUNDS],
  [['fg', 'control'], ['plan-soft', 'act-soft', 'critical-soft', 'major-soft']],
  [Array.from({ length: 8 }, (_, place) => `chart-${place + 1}`), ['bg', 'surface']],
];

describe.each([['light', ':root'], ['dark', "[data-theme='dark']"]])('%s', (_, selector) => {
  const tokens = tokensOf(selector);
  const failing = (pairs: [string[], string[]][], least: number) =>
    pairs.flatMap(([colours, grounds]) => colours.flatMap((colour) => grounds.map((ground) => [colour, ground, contrast(tokens[colour] ?? '', tokens[ground] ?? '')] as const))).filter(([, , found]) => !(found >= least)).map(([colour, ground, found]) => `${colour} on ${ground}: ${found.toFixed(2)}`);
  test('text has a contrast of 4.5', () => expect(failing(TEXT, 4.5)).toEqual([]));
  test('controls, focus and charts have a contrast of 3', () => expect(failing(SHAPES, 3)).toEqual([]));
  test('both looks have the same tokens', () => expect(Object.keys(tokens)).toEqual(Object.keys(tokensOf(':root'))));
});

test('blue is Plan mode and nothing else', () => {
  const uses = css.split('\n').filter((line) => line.includes('var(--plan'));
  expect(uses.every((line) => /^\[data-(mode|colour)=/.test(line))).toBe(true);
});
