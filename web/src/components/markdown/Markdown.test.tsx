import { render, cleanup } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { blocksOf, GrowingBlocks } from './blocks';
import { decodeEntities } from './entities';
import { GrowingMarkdown, Markdown } from './Markdown';

afterEach(cleanup);
const html = (text: string) => render(<Markdown text={text} />).container.querySelector('.prose')?.innerHTML;

test('headings stand below those of the page, lists nest, tables have cells', () => {
  const { container } = render(<Markdown text={'# Top\n\n- a\n  - b\n- [x] c\n\n| h | i |\n|---|---|\n| 1 | 2 |'} />);
  expect(container.querySelector('h2[data-depth="1"]')?.textContent).toBe('Top');
  expect(container.querySelectorAll('ul ul li')).toHaveLength(1);
  expect(container.querySelector<HTMLInputElement>('li.task input')?.checked).toBe(true);
  expect([...container.querySelectorAll('td')].map((cell) => cell.textContent)).toEqual(['1', '2']);
});

test('words keep their marks', () => {
  expect(html('**b** _i_ ~~d~~ `c<d` [l](https://e.org/)')).toBe(
    '<p><strong>b</strong> <em>i</em> <del>d</del> <code>c&lt;d</code> <a href="https://e.org/" target="_blank" rel="noopener noreferrer">l</a></p>',
  );
});

test.each([
  '<img src=x onerror=alert(1)>',
  '<script>alert(1)</script>',
  '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
  '<svg/onload=alert(1)>',
  'a <b onmouseover="alert(1)">c</b>',
  '<details open ontoggle=alert(1)>x</details>',
])('HTML is shown as it was written: %s', (text) => {
  const { container } = render(<Markdown text={text} />);
  expect(container.textContent).toContain(text);
  expect(container.querySelector('img, script, iframe, svg, b, details')).toBeNull();
});

test.each(['javascript:alert(1)', 'JaVaScRiPt:alert(1)', 'data:text/html,<script>alert(1)</script>', 'vbscript:x', 'java\nscript:alert(1)', '/relative', 'file:///etc/passwd'])(
  'a link that could run something, or leads into here, is no link: %s',
  (href) => {
    const { container } = render(<Markdown text={`[x](<${href}>) ![y](<${href}>)`} />);
    expect(container.querySelector('a, img')).toBeNull();
  },
);

test('a picture from elsewhere is a link, so that nobody learns who reads', () => {
  const { container } = render(<Markdown text="![alt](https://evil.example/p.png)" />);
  expect(container.querySelector('img')).toBeNull();
  expect(container.querySelector('a')?.textContent).toBe('alt');
});

test('character references are read, unknown ones stay', () => {
  expect(decodeEntities('&lt;b&gt; &amp;amp; &#65;&#x42; &nope; &#0;')).toBe('<b> &amp; AB &nope; \ufffd');
});

const LONG = '# Title\n\nSome **bold** words and `code`.\n\n1. one\n2. two\n   - deep\n\n```rust\nfn main() {\n    println!("# not a title");\n}\n```\n\n> quote\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nThe end.';

test('a text that grew letter by letter reads as one that came at once', () => {
  const growing = new GrowingBlocks();
  let blocks = growing.of('');
  for (let length = 1; length <= LONG.length; length += 1) blocks = growing.of(LONG.slice(0, length));
  expect(blocks.map((block) => block.token.raw)).toEqual(blocksOf(LONG).map((block) => block.token.raw));
});

test('what can no longer change keeps its very token while the text grows', () => {
  const growing = new GrowingBlocks();
  const first = growing.of('# Title\n\nOne paragraph.\n\nAnother')[0]?.token;
  expect(growing.of('# Title\n\nOne paragraph.\n\nAnother one.\n\nThird')[0]?.token).toBe(first);
});

test('an open end is healed: no stars or backticks flash by', () => {
  const { container } = render(<GrowingMarkdown text="Some **bold" />);
  expect(container.querySelector('strong')?.textContent).toBe('bold');
  const code = render(<GrowingMarkdown text={'```rust\nfn main'} />);
  expect(code.container.querySelector('pre')?.textContent).toBe('fn main');
});
