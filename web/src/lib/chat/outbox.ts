// Messages being sent. While the server is unreachable they wait.
import { create } from 'zustand';
import { api, ApiError } from '@/lib/api/client';
import { putAttachments, type Attachment } from '@/lib/attachments';
import { draftOf, putDraft } from '@/lib/drafts';
import { followEnd } from './follow';
import { useChatStore } from './store';

export interface Outgoing {
  /** The idempotency key. */
  key: string;
  workspace: string;
  chat: string;
  content: string;
  images: OutgoingImage[];
  /** The composer's content, restored if the server refuses the message. */
  typed: Typed | null;
  state: 'sending' | 'waiting' | 'sent';
  /** The server's id, once it has stored the message. */
  messageId: string | null;
}

interface Typed {
  words: string;
  attached: Attachment[];
}

/** `id` once it is uploaded; before that its bytes. */
export interface OutgoingImage {
  name: string;
  blob?: Blob;
  id?: string;
}

/** Delay between two attempts to send. */
const PAUSE = 2_000;

export const useOutbox = create<{ messages: Outgoing[] }>(() => ({ messages: [] }));

const change = (key: string, fields: Partial<Outgoing>) =>
  useOutbox.setState(({ messages }) => ({ messages: messages.map((one) => (one.key === key ? { ...one, ...fields } : one)) }));
const discard = (key: string) => useOutbox.setState(({ messages }) => ({ messages: messages.filter((one) => one.key !== key) }));

export function post(workspace: string, chat: string, content: string, images: OutgoingImage[] = [], typed: Typed | null = null): Promise<void> {
  const outgoing: Outgoing = { key: crypto.randomUUID(), workspace, chat, content, images, typed, state: 'sending', messageId: null };
  useOutbox.setState(({ messages }) => ({ messages: [...messages, outgoing] }));
  followEnd(chat);
  return attempt(outgoing);
}

/** Rejects if the server refused it; the composer shows the error too. */
async function attempt(outgoing: Outgoing): Promise<void> {
  const { key, workspace, chat, content, images } = outgoing;
  change(key, { state: 'sending' });
  try {
    const sent: { id: string; name: string }[] = [];
    for (const image of images) {
      if (image.id === undefined && image.blob) image.id = (await api.uploadImage(workspace, chat, image.blob)).id;
      if (image.id !== undefined) sent.push({ id: image.id, name: image.name });
    }
    const { message } = await api.send(workspace, chat, { content, images: sent }, key);
    // Text that stopped a run or answered a question is no separate message.
    if (message === null) return discard(key);
    change(key, { state: 'sent', messageId: message.id });
    dropSeen();
  } catch (reason) {
    const isLater = reason instanceof ApiError && (reason.status === 0 || reason.status >= 502);
    if (!isLater) {
      giveBack(outgoing, reason);
      throw reason;
    }
    change(key, { state: 'waiting' });
    setTimeout(() => retry(key), PAUSE);
  }
}

/** Returns it to its composer, before any newer text. */
function giveBack({ key, chat, typed }: Outgoing, reason?: unknown): void {
  discard(key);
  if (!typed) return;
  const text = [typed.words, draftOf(chat).text].filter((one) => one.trim() !== '').join('\n\n');
  putDraft(chat, { text, refusal: reason instanceof ApiError ? reason.problem : undefined });
  putAttachments(chat, (list) => [...typed.attached, ...list]);
}

// A message that could not be sent before the page closed becomes a draft again.
addEventListener('pagehide', (event: PageTransitionEvent) => {
  if (!event.persisted) for (const one of useOutbox.getState().messages) if (one.state === 'waiting') giveBack(one);
});

function retry(key: string): void {
  const outgoing = useOutbox.getState().messages.find((one) => one.key === key && one.state === 'waiting');
  if (outgoing) void attempt(outgoing).catch(() => undefined);
}

/** Removes messages that the history shows. */
function dropSeen(): void {
  const { views } = useChatStore.getState();
  const isSeen = (one: Outgoing) => one.messageId !== null && (views[one.chat]?.messages.some((message) => message.id === one.messageId) ?? true);
  if (useOutbox.getState().messages.some(isSeen)) useOutbox.setState(({ messages }) => ({ messages: messages.filter((one) => !isSeen(one)) }));
}

useChatStore.subscribe((state, before) => {
  if (state.views !== before.views && useOutbox.getState().messages.length > 0) dropSeen();
  if (state.connection !== 'live' || before.connection === 'live') return;
  for (const one of useOutbox.getState().messages) retry(one.key);
});
