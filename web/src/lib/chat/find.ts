// The search in the chat that is shown.
import { create } from 'zustand';

/** `asked` counts the requests. */
export const useFind = create<{ isOpen: boolean; text: string; asked: number }>(() => ({ isOpen: false, text: '', asked: 0 }));
export const openFind = (text?: string) => useFind.setState((state) => ({ isOpen: true, text: text ?? state.text, asked: state.asked + 1 }));
export const closeFind = () => useFind.setState({ isOpen: false });
