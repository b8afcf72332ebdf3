import { expect, test } from 'vitest';
import { paintedOf } from './ansi';

const shown = (text: string) => paintedOf(text).map((piece) => piece.text).join('');

test('colours and weights become class names, and end where they end', () => {
  expect(paintedOf('a \x1b[31mred\x1b[0m \x1b[1;32mbold green\x1b[22m green\x1b[39m plain')).toEqual([
    { text: 'a ', look: '' },
    { text: 'red', look: 'ansi-red' },
    { text: ' ', look: '' },
    { text: 'bold green', look: 'ansi-green ansi-bold' },
    { text: ' green', look: 'ansi-green' },
    { text: ' plain', look: '' },
  ]);
});

test('the colours of larger palettes become the nearest of the eight', () => {
  expect(paintedOf('\x1b[38;5;196mx\x1b[48;2;0;120;0my\x1b[38;5;9;1mz').map((piece) => piece.look)).toEqual(['ansi-red', 'ansi-red ansi-on-green', 'ansi-red ansi-on-green ansi-bold']);
  expect(paintedOf('\x1b[94mx')[0]?.look).toBe('ansi-blue');
});

test.each([
  ['\x1b[2J\x1b[1;1Hclean', 'clean'],
  ['\x1b]0;title\x07text', 'text'],
  ['\x1b]8;;https://evil.example\x1b\\link\x1b]8;;\x1b\\', 'link'],
  ['\x1bP1$r\x1b\\dcs', 'dcs'],
  ['\x1b]52;c;ZXZpbA==\x07copy', 'copy'],
  ['a\x00\x08\x7fb\u009b31mc', 'ab31mc'],
  ['\x1b(Bcharset', 'charset'],
  ['cut off \x1b[3', 'cut off [3'],
  ['\x1b]0;never ended', ''],
])('%j shows %j: no other sequence does anything', (printed, text) => {
  expect(shown(printed)).toBe(text);
});

test('a line that was written over shows what was written last', () => {
  expect(shown('10%\r50%\r100%\ndone\r\nnext')).toBe('100%\ndone\nnext');
});

test('text that is made to be slow or to fill the page is neither', () => {
  const started = performance.now();
  expect(paintedOf('\x1b[31mx\x1b[32my'.repeat(50_000)).length).toBeLessThanOrEqual(2_001);
  paintedOf('\x1b]'.repeat(100_000));
  paintedOf('\x1b['.repeat(100_000));
  paintedOf(`${'a'.repeat(500_000)}\r`);
  expect(performance.now() - started).toBeLessThan(3_000);
});

test('a class name comes from our list only', () => {
  const looks = paintedOf(`\x1b[38;5;"><script>m x \x1b[31;999;38;7;-1mz`).flatMap((piece) => piece.look.split(' '));
  expect(looks.every((look) => /^(|ansi-[a-z-]+)$/.test(look))).toBe(true);
});
