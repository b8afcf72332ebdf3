import { expect, test } from 'vitest';
import { findingsByStep } from './findings';

const FILE = `---
goal: Say goodbye
---

## Steps

- [ ] 1. Write the module
  reason: There is none
  - files: src/farewell.rs

- [x] 2. Export it

\`\`\`
- no step
\`\`\`

## My own notes

- [ ] 1. no step
`;

test('a finding belongs to the step above its line', () => {
  const lines = FILE.split('\n');
  const at = (words: string) => ({ line: lines.findIndex((line) => line.includes(words)) + 1, column: 1, message: words, gravity: 'warning' as const });
  const found = findingsByStep(FILE, ['goal', '## Steps', 'Write', 'files:', 'Export', 'no step', 'My own', '1. no step'].map(at));
  expect(found.map(({ step }) => step)).toEqual([null, null, 1, 1, 2, 2, null, null]);
  expect(findingsByStep('# Goal', [at('goal')])[0]?.step).toBe(null);
});
