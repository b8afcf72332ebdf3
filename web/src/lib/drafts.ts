// What was typed and not sent, by chat. Outlives a reload, and goes with the tab.
import { useCallback } from 'react';
import { create } from 'zustand';
import type { Problem } from './api/types';

/** The draft of a chat that is not there yet. */
export const NEW_CHAT = 'new';

interface Draft {
  text: string;
  /** Why the server did not take it. */
  refusal?: Problem | undefined;
}

const EMPTY: Draft = { text: '' };
const keyOf = (name: string) => `planwright.draft.${name}`;
const useDrafts = create<Record<string, Draft>>(() => ({}));

function stored(name: string): Draft {
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(name)) ?? '') as Draft;
  } catch {
    return EMPTY;
  }
}

export const draftOf = (name: string): Draft => useDrafts.getState()[name] ?? stored(name);

export function putDraft(name: string, draft: Draft): void {
  useDrafts.setState({ [name]: draft });
  try {
    if (draft.text === '' && !draft.refusal) sessionStorage.removeItem(keyOf(name));
    else sessionStorage.setItem(keyOf(name), JSON.stringify(draft));
  } catch {
    // Too long for the browser to keep: then it only lives on this page.
  }
}

/** The text, how to change it, and why it was refused. An emptied draft forgets that. */
export function useDraft(name: string): [string, (text: string) => void, Problem | undefined] {
  const draft = useDrafts((state) => state[name]) ?? stored(name);
  const keep = useCallback((text: string) => putDraft(name, text === '' ? EMPTY : { ...draftOf(name), text }), [name]);
  return [draft.text, keep, draft.refusal];
}
