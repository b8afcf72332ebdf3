// Which message the reader wants to see: named in the address, found by a search.
import { create } from 'zustand';

interface Sought {
  chat: string;
  message: string;
}

export const useFocus = create<{ sought: Sought | null; found: Sought | null }>(() => ({ sought: null, found: null }));

/** The conversation goes there, and marks it. */
export const seek = (chat: string, message: string) => useFocus.setState({ sought: { chat, message } });
/** It is on the screen. */
export const foundIt = () => useFocus.setState(({ sought }) => ({ sought: null, found: sought }));
export const unmark = () => useFocus.setState({ sought: null, found: null });
