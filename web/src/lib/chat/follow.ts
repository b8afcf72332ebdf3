// What is sent from here is seen here: the timeline goes to its end for it, wherever the reader was.
import { create } from 'zustand';

/** How often each chat's end was asked for. */
export const useFollow = create<{ asked: Record<string, number> }>(() => ({ asked: {} }));
export const followEnd = (chat: string) => useFollow.setState(({ asked }) => ({ asked: { ...asked, [chat]: (asked[chat] ?? 0) + 1 } }));
