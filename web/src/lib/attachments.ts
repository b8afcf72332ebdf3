// What will be sent with the words of a composer: images and text files, by the draft that they belong to.
import { create } from 'zustand';

export interface Attachment {
  key: string;
  name: string;
  size: number;
  /** An image: its bytes, and an address to show it by. */
  image?: { blob: Blob; address: string };
  /** A text file: its text. */
  text?: string;
}

const useAttachments = create<{ of: Record<string, Attachment[]> }>(() => ({ of: {} }));
const NONE: Attachment[] = [];
export const attachmentsOf = (draft: string) => useAttachments.getState().of[draft] ?? NONE;
export const useAttachmentsOf = (draft: string): Attachment[] => useAttachments((state) => state.of[draft] ?? NONE);

export const putAttachments = (draft: string, change: (list: Attachment[]) => Attachment[]) => useAttachments.setState(({ of }) => ({ of: { ...of, [draft]: change(of[draft] ?? NONE) } }));
export const removeAttachment = (draft: string, key: string) => putAttachments(draft, (list) => list.filter((one) => one.key !== key));
export const clearAttachments = (draft: string) => putAttachments(draft, () => NONE);
