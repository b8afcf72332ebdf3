// Comments on lines that were not sent yet. They stay in this browser, over reloads, until they are sent or deleted.
import { useMemo } from 'react';
import { create } from 'zustand';
import type { Line } from '@/lib/unifiedDiff';

export interface Draft {
  id: string;
  path: string;
  side: Line['side'];
  from: number;
  to: number;
  /** The lines as they were when the comment was made. */
  quote: string;
  step: number | null;
  text: string;
  /** Whether it is being written. `before`: what it said before this edit, null for a new one. */
  edit: { before: string | null } | null;
}

const keyOf = (chat: string) => `planwright.comments.${chat}`;
const NONE: Draft[] = [];

const isDraft = (raw: unknown): raw is Draft => {
  const one = raw as Partial<Draft> | null;
  return typeof one === 'object' && one !== null && typeof one.id === 'string' && typeof one.path === 'string' && typeof one.text === 'string' && typeof one.quote === 'string' && Number.isInteger(one.from) && Number.isInteger(one.to);
};

function stored(chat: string): Draft[] {
  try {
    const raw: unknown = JSON.parse(localStorage.getItem(keyOf(chat)) ?? '[]');
    return Array.isArray(raw) ? raw.filter(isDraft) : NONE;
  } catch {
    return NONE;
  }
}

const useStore = create<Record<string, Draft[]>>(() => ({}));
// Another tab on the same chat shows the same drafts.
window.addEventListener('storage', ({ key }) => {
  const chat = Object.keys(useStore.getState()).find((one) => keyOf(one) === key);
  if (chat !== undefined) useStore.setState({ [chat]: stored(chat) });
});

const draftsOf = (chat: string): Draft[] => useStore.getState()[chat] ?? stored(chat);

function put(chat: string, drafts: Draft[]): void {
  useStore.setState({ [chat]: drafts });
  try {
    if (drafts.length === 0) localStorage.removeItem(keyOf(chat));
    else localStorage.setItem(keyOf(chat), JSON.stringify(drafts));
  } catch {
    // Storage that is full or forbidden: the drafts live as long as the page.
  }
}

export interface Comments {
  all: Draft[];
  /** Those that would be sent. */
  ready: Draft[];
  begin: (draft: Omit<Draft, 'id' | 'text' | 'edit'>) => void;
  write: (id: string, text: string) => void;
  /** Ends the edit; an empty comment goes. */
  keep: (id: string) => void;
  cancel: (id: string) => void;
  reopen: (id: string) => void;
  remove: (ids: readonly string[]) => void;
}

export function useComments(chat: string): Comments {
  const known = useStore((all) => all[chat]);
  const all = useMemo(() => known ?? stored(chat), [known, chat]);
  return useMemo(() => {
    const change = (id: string, to: (draft: Draft) => Draft | null) => put(chat, draftsOf(chat).flatMap((one) => (one.id === id ? (to(one) ?? []) : one)));
    return {
      all,
      ready: all.filter(({ text }) => text.trim() !== ''),
      begin: (draft) => {
        const open = draftsOf(chat).find((one) => one.path === draft.path && one.side === draft.side && one.to === draft.to);
        if (open) change(open.id, (one) => ({ ...one, edit: one.edit ?? { before: one.text } }));
        else put(chat, [...draftsOf(chat), { ...draft, id: crypto.randomUUID(), text: '', edit: { before: null } }]);
      },
      write: (id, text) => change(id, (one) => ({ ...one, text })),
      keep: (id) => change(id, (one) => (one.text.trim() === '' ? null : { ...one, edit: null })),
      cancel: (id) => change(id, (one) => (one.edit?.before ? { ...one, text: one.edit.before, edit: null } : null)),
      reopen: (id) => change(id, (one) => ({ ...one, edit: { before: one.text } })),
      remove: (ids) => put(chat, draftsOf(chat).filter((one) => !ids.includes(one.id))),
    };
  }, [all, chat]);
}

/** `34` or `34-36`. */
export const linesOf = ({ from, to }: Pick<Draft, 'from' | 'to'>): string => (from === to ? String(from) : `${from}-${to}`);
