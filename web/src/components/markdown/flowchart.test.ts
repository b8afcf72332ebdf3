import { expect, test } from 'vitest';
import { readable, Undrawable } from './flowchart';

const edges = (code: string) => readable(`graph LR\n${code}`).split('\n').slice(1);

test('links need no spaces around them', () => {
  expect(edges('A-->B')).toEqual(['A --> B']);
  expect(edges('my-node-->B---C')).toEqual(['my-node --> B --- C']);
  expect(edges('A-.->B==>C===D-.-E')).toEqual(['A -.-> B ==> C === D -.- E']);
  expect(edges('A<-->B')).toEqual(['A <--> B']);
  expect(edges('A[One]-->B{Two?}')).toEqual(['A[One] --> B{Two?}']);
});

test('a label stands between bars, wherever it was written', () => {
  expect(edges('A -- yes --> B')).toEqual(['A -->|yes| B']);
  expect(edges('A--yes-->B')).toEqual(['A -->|yes| B']);
  expect(edges('A -->|no way| B')).toEqual(['A -->|no way| B']);
  expect(edges('A-->|"a; b"|B')).toEqual(['A -->|a; b| B']);
  expect(edges('A -. maybe .-> B == sure ==> C')).toEqual(['A -.->|maybe| B ==>|sure| C']);
  expect(edges('A -- open --- B')).toEqual(['A ---|open| B']);
});

test('semicolons end statements, also after the header', () => {
  expect(readable('graph TD; A-->B; B-->C;')).toBe('graph TD\nA --> B\nB --> C');
  expect(readable('flowchart\nA["a; b"];B')).toBe('graph TD\nA[a; b]\nB');
});

test('groups, classes, comments and styles are kept or left out', () => {
  expect(edges('A & B-->C:::big')).toEqual(['A & B --> C:::big']);
  expect(edges('%% a note\nsubgraph one [First]\nA-->B\nend\nstyle A fill:#fff\nclick A "x"')).toEqual(['subgraph one [First]', 'A --> B', 'end', 'style A fill:#fff']);
});

test('labels keep their words, whatever marks are in them', () => {
  expect(edges('A["f(x) [1]"] --> B("(y)")')).toEqual(['A[f(x) [1］] --> B( (y）)']);
  expect(edges('开始-->B[结束]')).toEqual([expect.stringMatching(/^n\w+\[开始\] --> B\[结束\]$/)]);
});

test('what can not be drawn is refused by its statement, not passed over', () => {
  for (const wrong of ['A --o B', 'A ~~~ B', 'A -->', 'A[open', '-->B', 'A ? B']) expect(() => edges(wrong)).toThrow(new Undrawable(wrong));
});

test('other kinds of diagrams stay as they are', () => {
  const code = 'sequenceDiagram\nA->>B: one; two';
  expect(readable(code)).toBe(code);
});
