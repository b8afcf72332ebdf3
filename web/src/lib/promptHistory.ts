// Messages sent from this tab, for the arrow keys of the composers.
import { useRef, type KeyboardEvent } from 'react';

const KEY = 'planwright.prompts';
const MOST = 50;

function stored(): string[] {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? '[]') as string[];
  } catch {
    return [];
  }
}

/** Newest first. */
export function rememberPrompt(text: string): void {
  if (text.trim() === '') return;
  sessionStorage.setItem(KEY, JSON.stringify([text, ...stored().filter((one) => one !== text)].slice(0, MOST)));
}

/**
 * Up in an empty field recalls the newest prompt, and further ones from the first line of a recalled one; Down goes back.
 * `own` are the prompts of this chat, newest first; they come before those of other chats.
 */
export function useRecall(draft: string, setDraft: (text: string) => void, own: string[] = []): (event: KeyboardEvent<HTMLTextAreaElement>) => boolean {
  const place = useRef(-1);
  const shown = useRef('');
  return (event) => {
    const { key, currentTarget: field } = event;
    if ((key !== 'ArrowUp' && key !== 'ArrowDown') || event.shiftKey || event.altKey || event.ctrlKey || event.metaKey) return false;
    if (draft === '') place.current = -1;
    else if (draft !== shown.current) return false;
    const caret = field.selectionStart;
    const rest = key === 'ArrowUp' ? draft.slice(0, caret) : draft.slice(field.selectionEnd);
    if (caret !== field.selectionEnd || rest.includes('\n')) return false;
    const all = [...new Set([...own, ...stored()])];
    const next = place.current + (key === 'ArrowUp' ? 1 : -1);
    if (next >= all.length || (next < 0 && place.current < 0)) return false;
    event.preventDefault();
    place.current = next;
    shown.current = all[next] ?? '';
    setDraft(shown.current);
    return true;
  };
}
