// What a chat did to files: weighed, grouped by the words that set it off, and what taking it back would do.
import type { CallChanges, ChangedFile, Image, Message, RevertStep } from '@/lib/api/types';

interface Weight {
  files: number;
  added: number;
  removed: number;
}

export function weigh(files: ChangedFile[]): Weight {
  return files.reduce((sum, file) => ({ files: sum.files + 1, added: sum.added + file.added, removed: sum.removed + file.removed }), { files: 0, added: 0, removed: 0 });
}

/** What was done about one message of the user. */
export interface Group {
  /** Nothing where the message is not loaded. */
  asked: Message | null;
  calls: CallChanges[];
}

const isWord = (message: Message) => message.author === 'user' && message.metadata.question_answer === undefined;

/** Newest first, calls as well. Ids grow with time. */
export function byMessage(changes: CallChanges[], messages: Message[]): Group[] {
  const words = messages.filter(isWord);
  const groups: Group[] = [];
  for (const call of changes.toReversed()) {
    const asked = words.findLast((word) => word.id < call.message_id) ?? null;
    const last = groups.at(-1);
    if (last && last.asked?.id === asked?.id) last.calls.push(call);
    else groups.push({ asked, calls: [call] });
  }
  return groups;
}

/** The changes of one path from a message on, oldest first. */
export function sinceOf(changes: CallChanges[], from: string, path: string): { call: CallChanges; file: ChangedFile }[] {
  return changes
    .filter((call) => call.message_id >= from)
    .flatMap((call) => call.files.filter((file) => (file.path === path || file.from === path) && !file.reverted).map((file) => ({ call, file })));
}

type Fate = 'removed' | 'brought_back' | 'put_back';

/** What becomes of a path that is taken back. */
export function fateOf({ present, wanted }: RevertStep): Fate {
  if (wanted.kind === 'absent') return 'removed';
  return present.kind === 'absent' ? 'brought_back' : 'put_back';
}

/** Why there is nothing to show of a change, if so. */
type Unshown = 'folder' | 'binary' | 'link' | 'mode' | 'movedOnly' | 'too_long' | null;

export function unshown(file: ChangedFile): Unshown {
  const is = (kind: Image['kind']) => file.before.kind === kind || file.after.kind === kind;
  if (file.binary) return 'binary';
  if (file.diff.includes('\n@@ ')) return null;
  if (file.truncated) return 'too_long';
  if (is('folder')) return 'folder';
  if (file.status === 'moved') return 'movedOnly';
  if (is('link')) return 'link';
  return 'mode';
}

/** The diff without the line that says that it was cut, which is no line of a diff. */
export const uncut = (diff: string): string => diff.split('\n[diff cut:')[0] ?? '';
