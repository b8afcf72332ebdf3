// Copies and downloads a chat or its plan as Markdown.
import { api } from '@/lib/api/client';
import type { Message } from '@/lib/api/types';
import { mayGoOn } from '@/lib/chat/reduce';
import { useChatStore } from '@/lib/chat/store';
import { chatMarkdown, fileName, isCut, planIn, planMarkdown, type TranscriptWords } from './transcript';

const PAGE = 200;
export type Subject = 'chat' | 'plan';

interface Source {
  workspace: string;
  chat: string;
}

/** All messages of the chat, oldest first; what was sent in part is fetched whole. */
async function allMessages({ workspace, chat }: Source): Promise<Message[]> {
  const view = useChatStore.getState().views[chat];
  let messages = view?.messages ?? [];
  for (let isMore = view?.hasOlder ?? false, oldest = messages[0]; isMore && oldest; oldest = messages[0]) {
    const page = await api.messages(workspace, chat, oldest.id, PAGE);
    messages = [...page.toReversed(), ...messages];
    isMore = page.length > 0 && mayGoOn(page, PAGE);
  }
  return Promise.all(messages.map(async (one) => (isCut(one) ? { ...one, content: (await api.body(workspace, chat, one.id)).content } : one)));
}

async function markdownOf(subject: Subject, source: Source, words: TranscriptWords): Promise<string> {
  const view = useChatStore.getState().views[source.chat];
  const messages = await allMessages(source);
  if (subject === 'chat') return chatMarkdown(view?.chat.title ?? '', messages, words);
  const found = planIn(messages, view?.chat.config.plan_file ?? null);
  return found ? `${planMarkdown(found.plan, words.plan)}\n` : '';
}

export async function copyMarkdown(subject: Subject, source: Source, words: TranscriptWords): Promise<void> {
  const text = markdownOf(subject, source, words);
  // The clipboard wants to be asked while the click is fresh; the text may come later.
  await navigator.clipboard.write([new ClipboardItem({ 'text/plain': text.then((all) => new Blob([all], { type: 'text/plain' })) })]);
}

export async function downloadMarkdown(subject: Subject, source: Source, words: TranscriptWords): Promise<void> {
  const text = await markdownOf(subject, source, words);
  const title = useChatStore.getState().views[source.chat]?.chat.title ?? '';
  const address = URL.createObjectURL(new Blob([text], { type: 'text/markdown' }));
  const link = Object.assign(document.createElement('a'), { href: address, download: subject === 'plan' ? `plan-${fileName(title)}` : fileName(title) });
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
