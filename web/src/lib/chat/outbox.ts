// Messages on their way to the server. What can't be sent now goes out when the server is back.
import { create } from 'zustand';
import { api, ApiError } from '@/lib/api/client';
import { followEnd } from './follow';
import { useChatStore } from './store';

export interface Outgoing {
  /** Makes sending it twice safe. */
  key: string;
  workspace: string;
  chat: string;
  content: string;
  images: OutgoingImage[];
  state: 'sending' | 'waiting' | 'failed' | 'sent';
  /** As the server calls it, once it has it. */
  messageId: string | null;
}

/** `id` once the chat has it; before that its bytes. */
export interface OutgoingImage {
  name: string;
  blob?: Blob;
  id?: string;
}

/** Between two attempts to send what could not be sent. */
const PAUSE = 2_000;

export const useOutbox = create<{ messages: Outgoing[] }>(() => ({ messages: [] }));

const change = (key: string, fields: Partial<Outgoing>) =>
  useOutbox.setState(({ messages }) => ({ messages: messages.map((one) => (one.key === key ? { ...one, ...fields } : one)) }));
export const discard = (key: string) => useOutbox.setState(({ messages }) => ({ messages: messages.filter((one) => one.key !== key) }));

export function post(workspace: string, chat: string, content: string, images: OutgoingImage[] = []): Promise<void> {
  const outgoing: Outgoing = { key: crypto.randomUUID(), workspace, chat, content, images, state: 'sending', messageId: null };
  useOutbox.setState(({ messages }) => ({ messages: [...messages, outgoing] }));
  followEnd(chat);
  return attempt(outgoing);
}

/** Rejects only when the server refused it; then it stays as failed. */
export async function attempt({ key, workspace, chat, content, images }: Outgoing): Promise<void> {
  change(key, { state: 'sending' });
  try {
    const sent: { id: string; name: string }[] = [];
    for (const image of images) {
      if (image.id === undefined && image.blob) image.id = (await api.uploadImage(workspace, chat, image.blob)).id;
      if (image.id !== undefined) sent.push({ id: image.id, name: image.name });
    }
    const { message } = await api.send(workspace, chat, { content, images: sent }, key);
    // Words that ended a run or answered a question make no message of their own.
    if (message === null) return discard(key);
    change(key, { state: 'sent', messageId: message.id });
    dropSeen();
  } catch (reason) {
    const isLater = reason instanceof ApiError && (reason.status === 0 || reason.status >= 502);
    change(key, { state: isLater ? 'waiting' : 'failed' });
    if (!isLater) throw reason;
    setTimeout(() => retry(key), PAUSE);
  }
}

function retry(key: string): void {
  const outgoing = useOutbox.getState().messages.find((one) => one.key === key && one.state === 'waiting');
  if (outgoing) void attempt(outgoing).catch(() => undefined);
}

/** What the history shows is no longer shown from here. */
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
