// What other features put into the chat page; `app/ChatRoute` names them.
import { createContext, useContext, type ComponentType } from 'react';
import type { Message, MessageType } from '@/lib/api/types';

type MessageCard = ComponentType<{ message: Message }>;

export interface ChatSlots {
  /** One card for each type of message. */
  cards: Record<MessageType, MessageCard>;
  /** Above the composer, while a question is pending. */
  QuestionBar: ComponentType;
  /** Above the composer, while a plan is carried out. */
  ProgressDock: ComponentType;
  /** Beside the chat. */
  SidePanel: ComponentType;
  /** Above the composer, where somebody is shown around. */
  Guide: ComponentType;
}

const SlotsContext = createContext<ChatSlots | null>(null);
export const ChatSlotsProvider = SlotsContext;

export function useSlots(): ChatSlots {
  const slots = useContext(SlotsContext);
  if (!slots) throw new Error('used outside of the chat page');
  return slots;
}
