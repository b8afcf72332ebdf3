// What a tab and the shared worker say to each other.
import type { ChatEvent } from '@/lib/api/types';

/** An event together with the chat it is of. */
export type SentEvent = ChatEvent & { chat_id: string };
/** A chat whose every event is wanted, and the last event that the tab has. */
export interface Wanted {
  chat: string;
  after: number;
}
export type Link = 'connecting' | 'live' | 'broken';

export type ToHub =
  | { kind: 'want'; chats: Wanted[] }
  /** The network is back, or the page came back from sleep: try at once. */
  | { kind: 'wake' }
  | { kind: 'bye' };

export type ToTab =
  | { kind: 'events'; events: SentEvent[] }
  /** From here on come all events of these chats after the given ones. Before that, only those that every list needs. */
  | { kind: 'following'; chats: Wanted[] }
  /** Small events were missed: the lists of chats have to be read anew. */
  | { kind: 'lists_stale' }
  | { kind: 'signed_out' }
  | { kind: 'link'; link: Link };
