// Sends text with its attachments.
import { withFiles } from '@/lib/attached';
import type { Attachment } from '@/lib/attachments';
import { rememberPrompt } from '@/lib/promptHistory';
import { post } from './outbox';

export function say(workspace: string, chat: string, words: string, attached: Attachment[]): Promise<void> {
  const files = attached.flatMap(({ name, text }) => (text === undefined ? [] : [{ name, text }]));
  const images = attached.flatMap(({ name, image }) => (image ? [{ name, blob: image.blob }] : []));
  rememberPrompt(words.trim());
  return post(workspace, chat, files.length > 0 ? withFiles(words, files) : words.trim(), images, { words, attached });
}
