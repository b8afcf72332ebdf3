// Scrolls the timeline to its end when the user sends something, wherever they were.
import { create } from 'zustand';

/** How often the end of each chat was requested. */
export const useFollow = create<{ asked: Record<string, number> }>(() => ({ asked: {} }));
export const followEnd = (chat: string) => useFollow.setState(({ asked }) => ({ asked: { ...asked, [chat]: (asked[chat] ?? 0) + 1 } }));
