// The attachments of drafts: images and text files.
import { create } from 'zustand';

export interface Attachment {
  key: string;
  name: string;
  size: number;
  /** An image: its bytes, and a URL to show it. */
  image?: { blob: Blob; address: string };
  /** A text file: its text. */
  text?: string;
}

const useAttachments = create<{ of: Record<string, Attachment[]> }>(() => ({ of: {} }));
const NONE: Attachment[] = [];
export const attachmentsOf = (draft: string) => useAttachments.getState().of[draft] ?? NONE;
export const useAttachmentsOf = (draft: string): Attachment[] => useAttachments((state) => state.of[draft] ?? NONE);

/** Says that the browser's database has attachments of a draft. */
const mark = (draft: string) => `planwright.attached.${draft}`;
const show = (draft: string, list: Attachment[]) => useAttachments.setState(({ of }) => ({ of: { ...of, [draft]: list } }));

export function putAttachments(draft: string, change: (list: Attachment[]) => Attachment[]): void {
  const before = attachmentsOf(draft);
  const list = change(before);
  show(draft, list);
  if (list.length + before.length === 0) return;
  if (list.length > 0) sessionStorage.setItem(mark(draft), '1');
  else sessionStorage.removeItem(mark(draft));
  // Without browser storage they live as long as the page.
  void import('./keptAttachments').then(({ keep }) => keep(draft, list)).catch(() => undefined);
}
export const removeAttachment = (draft: string, key: string) => putAttachments(draft, (list) => list.filter((one) => one.key !== key));
export const clearAttachments = (draft: string) => putAttachments(draft, () => NONE);

/** Restores attachments after a reload. */
export async function restoreAttachments(draft: string): Promise<void> {
  if (draft in useAttachments.getState().of || sessionStorage.getItem(mark(draft)) === null) return;
  const { restore } = await import('./keptAttachments');
  const kept = await restore(draft);
  show(draft, [...kept, ...attachmentsOf(draft).filter(({ key }) => kept.every((one) => one.key !== key))]);
}
