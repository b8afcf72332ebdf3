// Up to when each chat has been looked at in this browser.
import { create } from 'zustand';

const KEY = 'planwright.seen';
type Seen = Record<string, string>;

function stored(): Seen {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? '{}') as Seen;
  } catch {
    return {};
  }
}

export const useSeen = create<{ seen: Seen }>(() => ({ seen: stored() }));

export function markSeen(chat: string, at: string): void {
  const seen = { ...stored(), [chat]: at };
  localStorage.setItem(KEY, JSON.stringify(seen));
  useSeen.setState({ seen });
}

/** A chat that was looked at before and has gone on since. */
export const isUnread = (seen: Seen, chat: { id: string; updated_at: string }): boolean => {
  const at = seen[chat.id];
  return at !== undefined && Date.parse(at) < Date.parse(chat.updated_at);
};

// Another tab may be the one where it was read.
addEventListener('storage', (event: StorageEvent) => event.key === KEY && useSeen.setState({ seen: stored() }));
