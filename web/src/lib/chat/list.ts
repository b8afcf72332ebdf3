// The list of chats, updated by the overview events of all of them.
import type { Chat, ChatEvent } from '@/lib/api/types';

type OfChat = ChatEvent & { chat_id: string };

/** The list of one workspace. */
export function reduceList(chats: Chat[], event: OfChat, workspace: string): Chat[] {
  const index = chats.findIndex((chat) => chat.id === event.chat_id);
  if (event.type === 'chat_created') return index < 0 && event.data.chat.workspace_id === workspace ? [event.data.chat, ...chats] : chats;
  const chat = chats[index];
  if (!chat) return chats;
  if (event.type === 'chat_deleted') return chats.toSpliced(index, 1);
  const changed = change(chat, event);
  return changed === chat ? chats : chats.with(index, changed);
}

function change(chat: Chat, event: OfChat): Chat {
  switch (event.type) {
    case 'chat_updated':
      return { ...chat, ...event.data };
    case 'state_changed':
      return { ...chat, state: event.data.state };
    case 'question_pending':
      return { ...chat, pending_question: event.data };
    case 'question_resolved':
      return { ...chat, pending_question: null };
    case 'mode_changed': {
      const { by: _by, ...config } = event.data;
      return { ...chat, config };
    }
    case 'message_created':
      return { ...chat, updated_at: event.at };
    case 'message_updated':
    case 'message_deleted':
    case 'text_delta':
    case 'reasoning_delta':
    case 'tool_call':
    case 'tool_output':
    case 'tool_result':
    case 'intent_suggested':
    case 'plan_updated':
    case 'plan_step':
    case 'usage':
    case 'run_finished':
    case 'violation':
    case 'chat_created':
    case 'chat_deleted':
    case 'reset':
      return chat;
    default:
      // A newer server may send events that this page does not know.
      event satisfies never;
      return chat;
  }
}
