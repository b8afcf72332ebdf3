import { expect, test } from 'vitest';
import { languageOf } from './language';

test('a language follows from the ending or the name of a file', () => {
  expect(['/src/lib.rs', '/a/B.TSX', '/Makefile', '/plans/x.plan', '/.gitignore', '/README', '/x.unknown', '/a.b/c'].map(languageOf)).toEqual(['rust', 'tsx', 'makefile', 'markdown', 'bash', '', '', '']);
});
