import { expect, test } from 'vitest';
import { commandLine } from './commandLine';

test('words of a command are recognised however they are written', () => {
  expect(commandLine(['npx', '-y', '@scope/server', '/a/b.c'])).toBe('npx -y @scope/server /a/b.c');
  expect(commandLine(['sh', '-c', "echo 'a' && b", ''])).toBe("sh -c 'echo '\\''a'\\'' && b' ''");
  expect(commandLine(['a\u202eb', '$HOME', 'a\nb'])).toBe("'a\u202eb' '$HOME' 'a\nb'");
});
