// How long the view of a chat stays in memory after its page was left.
import { useChatStore } from './store';

/** Going back within this time shows the chat at once. */
export const KEPT_FOR = 10 * 60_000;
/** Of the chats that were left, only the latest stay. */
export const MOST_LEFT = 5;

const left = new Map<string, ReturnType<typeof setTimeout>>();

/** The chat is open: its view stays. */
export function keepView(chat: string): void {
  clearTimeout(left.get(chat));
  left.delete(chat);
}

/** Nobody shows the chat any more: its view goes after a while, or when enough others were left since. */
export function releaseView(chat: string): void {
  keepView(chat);
  left.set(chat, setTimeout(() => drop(chat), KEPT_FOR));
  for (const oldest of [...left.keys()].slice(0, -MOST_LEFT)) drop(oldest);
}

function drop(chat: string): void {
  keepView(chat);
  useChatStore.setState(({ views: { [chat]: _gone, ...views } }) => ({ views }));
}
