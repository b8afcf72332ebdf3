// The images of a user message.
import { api } from '@/lib/api/client';
import type { Message } from '@/lib/api/types';
import type { OutgoingImage } from './outbox';

interface MessageImage {
  id: string;
  /** Empty if the client sent none. */
  name: string;
  address: string;
}

export function imagesOf(workspace: string, chat: string, { metadata }: Message): MessageImage[] {
  const images = (metadata.images ?? []) as { sha256: string }[];
  const names = (metadata.client as { image_names?: unknown } | undefined)?.image_names;
  const nameOf = (place: number) => (Array.isArray(names) && typeof names[place] === 'string' ? names[place] : '');
  return images.map(({ sha256 }, place) => ({ id: sha256, name: nameOf(place), address: api.imageOfChat(workspace, chat, sha256) }));
}

/** To be sent once more in the same chat. */
export const sameImages = (workspace: string, chat: string, message: Message): OutgoingImage[] => imagesOf(workspace, chat, message).map(({ id, name }) => ({ id, name }));

/** Their bytes, to be sent in another chat. */
export const filesOfImages = (workspace: string, chat: string, message: Message): Promise<File[]> =>
  Promise.all(imagesOf(workspace, chat, message).map(async ({ address, name }) => new File([await (await fetch(address)).blob()], name)));
