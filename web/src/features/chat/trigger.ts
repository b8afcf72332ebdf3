// What is being named in the composer: a command after a slash, a file after an @.

export interface Trigger {
  kind: 'command' | 'file';
  /** What was typed of the name. */
  typed: string;
  /** Where the name stands in the text, with its sign. */
  start: number;
  end: number;
}

/** A command is the whole message; a file can be named anywhere, after a space. */
export function triggerAt(text: string, caret: number): Trigger | null {
  const before = text.slice(0, caret);
  const command = /^\/(\S*)$/.exec(before);
  if (command && !/\s/.test(text)) return { kind: 'command', typed: command[1] ?? '', start: 0, end: text.length };
  const file = /(?:^|\s)@(\S*)$/.exec(before);
  if (!file) return null;
  const typed = file[1] ?? '';
  const rest = /^\S*/.exec(text.slice(caret))?.[0] ?? '';
  return { kind: 'file', typed, start: caret - typed.length - 1, end: caret + rest.length };
}

/** The text with the name put in, and where the caret goes. */
export function complete(text: string, trigger: Trigger, name: string): { text: string; caret: number } {
  const put = `${trigger.kind === 'command' ? '/' : '@'}${name} `;
  const rest = text.slice(trigger.end).replace(/^ /, '');
  return { text: text.slice(0, trigger.start) + put + rest, caret: trigger.start + put.length };
}
