// Dialogs that can be asked for from anywhere; `app/Dialogs` draws the one that is open.
import { create } from 'zustand';

export type OpenDialog = { kind: 'palette'; text?: string } | { kind: 'shortcuts' } | { kind: 'add-folder' } | { kind: 'trust'; workspace: string };

export const useDialog = create<{ open: OpenDialog | null }>(() => ({ open: null }));
export const showDialog = (open: OpenDialog) => useDialog.setState({ open });
export const closeDialog = () => useDialog.setState({ open: null });
