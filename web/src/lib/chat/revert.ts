// Which message the user wants to take everything back from: asked for in several places, answered by one dialog.
import { create } from 'zustand';

export const useRevert = create<{ from: string | null }>(() => ({ from: null }));
/** Shows what would be taken back from this message on; nothing happens before that is confirmed. */
export const askRevert = (message: string) => useRevert.setState({ from: message });
export const closeRevert = () => useRevert.setState({ from: null });
