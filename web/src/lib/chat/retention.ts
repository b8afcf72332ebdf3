// How long the view of a chat stays in memory after its page was left.
import { useChatStore } from './store';

/** Going back within this time shows the chat at once. */
export const KEPT_FOR = 10 * 60_000;
/** Only the most recently left chats stay. */
export const MOST_LEFT = 5;

const left = new Map<string, ReturnType<typeof setTimeout>>();

/** The chat is open: its view stays. */
export function keepView(chat: string): void {
  clearTimeout(left.get(chat));
  left.delete(chat);
}

/** The chat is no longer shown: its view is dropped after a while, or when enough other chats were left. */
export function releaseView(chat: string): void {
  keepView(chat);
  left.set(chat, setTimeout(() => drop(chat), KEPT_FOR));
  for (const oldest of [...left.keys()].slice(0, -MOST_LEFT)) drop(oldest);
}

function drop(chat: string): void {
  keepView(chat);
  useChatStore.setState(({ views: { [chat]: _gone, ...views } }) => ({ views }));
}
