import { Pencil } from 'lucide-react';
import { expect, test } from 'vitest';
import { commandIn, mistypedIn, type Command } from './commands';

const commands: Command[] = [
  { name: 'stop', label: 'Stop', icon: Pencil, run: () => undefined },
  { name: 'rename', label: 'Rename', icon: Pencil, wants: 'the title', run: () => undefined },
];
const named = (text: string) => {
  const found = commandIn(text, commands);
  return found && [found.command.name, found.argument];
};

test('a message is a command only if it is nothing else', () => {
  expect(named('/stop')).toEqual(['stop', '']);
  expect(named(' /rename A new\nname ')).toEqual(['rename', 'A new\nname']);
  expect(named('/stop that please')).toBeNull();
  expect(named('/src/lib.rs is odd')).toBeNull();
  expect(named('please /stop')).toBeNull();
});

test('a mistyped command is named; commands, paths and other words are not mistyped', () => {
  const mistyped = (text: string) => mistypedIn(text, commands);
  expect(mistyped('/nosuch thing')).toBe('nosuch');
  expect(mistyped(' /plam')).toBe('plam');
  for (const text of ['/stop', '/stop that please', '/src/lib.rs is odd', '/README', 'please /nosuch', '//', '/']) expect(mistyped(text)).toBeNull();
});
