// Which of the user's messages is being edited, to be sent again in a chat of its own.
import { create } from 'zustand';
import type { Message } from '@/lib/api/types';

export const useEditing = create<{ edited: Record<string, Message | undefined> }>(() => ({ edited: {} }));
export const startEdit = (chat: string, message: Message) => useEditing.setState(({ edited }) => ({ edited: { ...edited, [chat]: message } }));
export const endEdit = (chat: string) => useEditing.setState(({ edited }) => ({ edited: { ...edited, [chat]: undefined } }));
