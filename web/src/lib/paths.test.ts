import { expect, test } from 'vitest';
import { inWorkspace, piecesOf, placeOf, placeOfLink } from './paths';

const found = (text: string) => piecesOf(text).flatMap(({ text: shown, place }) => (place ? [`${shown} → ${place.path}${place.line === null ? '' : ` at ${place.line}`}`] : []));

test.each([
  ['See src/lib.rs.', ['src/lib.rs → src/lib.rs']],
  ['error --> src/main.rs:3:5', ['src/main.rs:3:5 → src/main.rs at 3']],
  ['src/app.ts(12,4): error TS2322', ['src/app.ts(12,4) → src/app.ts at 12']],
  ['  File "tools/build.py", line 7, in main', ['tools/build.py", line 7 → tools/build.py at 7']],
  ['Cargo.toml:4 and ./docs/a.md, then /src/deep/x.test.tsx:1', ['Cargo.toml:4 → Cargo.toml at 4', './docs/a.md → ./docs/a.md', '/src/deep/x.test.tsx:1 → /src/deep/x.test.tsx at 1']],
  ['在 src/语言/词.ts:3 中', ['src/语言/词.ts:3 → src/语言/词.ts at 3']],
  ['packages/ui/Makefile', ['packages/ui/Makefile → packages/ui/Makefile']],
])('a path in %j is found with its line', (text, places) => {
  expect(found(text)).toEqual(places);
  expect(piecesOf(text).map((piece) => piece.text).join('')).toBe(text);
});

test.each(['and/or', '1/2 of it', 'https://example.com/a/index.html', 'www.example.com/index.html', 'example.com/a.html', 'node.js is fine', 'TCP/IP', 'a@b.rs', 'v1.2.3', 'x/y/z', 'javascript:alert(1)//a.js', ''])('%j names no file', (text) => {
  expect(found(text)).toEqual([]);
});

test('a long text without paths is read in no time', () => {
  const started = performance.now();
  for (const text of ['a'.repeat(200_000), 'a/'.repeat(100_000), '+a'.repeat(100_000), '.'.repeat(200_000), './'.repeat(100_000)]) expect(found(text)).toEqual([]);
  expect(performance.now() - started).toBeLessThan(2_000);
});

test('code in backticks is a place when all of it is', () => {
  expect(placeOf('Cargo.toml')).toEqual({ path: 'Cargo.toml', line: null });
  expect(placeOf('src/lib.rs:9')).toEqual({ path: 'src/lib.rs', line: 9 });
  for (const text of ['cargo test', 'foo.bar()', 'process.exit', 'src/**/*.rs', '--flag=a/b.rs', '$HOME/a.rs', 'a.rs b.rs']) expect(placeOf(text)).toBeNull();
});

test('a link into the workspace is a place; one out of it is none', () => {
  expect(placeOfLink('src/lib.rs#L12')).toEqual({ path: 'src/lib.rs', line: 12 });
  expect(placeOfLink('docs/a%2Db.md')).toEqual({ path: 'docs/a-b.md', line: null });
  for (const href of ['https://e.org/a.md', '//e.org/a.md', 'javascript:a.js', 'data:text/html,a.js', '#top', 'file:///etc/a.conf']) expect(placeOfLink(href)).toBeNull();
});

test('paths are those of the workspace', () => {
  expect(inWorkspace('src/lib.rs', '/home/ada/shop')).toBe('/src/lib.rs');
  expect(inWorkspace('/home/ada/shop/src/lib.rs', '/home/ada/shop')).toBe('/src/lib.rs');
  expect(inWorkspace('/home/ada/shop-2/a.rs', '/home/ada/shop')).toBe('/home/ada/shop-2/a.rs');
  expect(inWorkspace('./a/../../../b.rs', undefined)).toBe('/b.rs');
});
