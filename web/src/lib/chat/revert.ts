// The message to revert to: requested in several places, handled by one dialog.
import { create } from 'zustand';

export const useRevert = create<{ from: string | null }>(() => ({ from: null }));
/** Shows what would be reverted from this message on; nothing changes before the user confirms. */
export const askRevert = (message: string) => useRevert.setState({ from: message });
export const closeRevert = () => useRevert.setState({ from: null });
