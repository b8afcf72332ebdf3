// Suggestions while the user types a command or a file name, and their keys.
import { useRef, useState, type KeyboardEvent, type RefObject } from 'react';
import { flushSync } from 'react-dom';
import { part } from '@/components/part';
import { LIST_ID, optionId } from './suggestionIds';
import type { Suggested } from './Suggestions';
import { complete, triggerAt, type Trigger } from './trigger';

export const Suggestions = part(() => import('./Suggestions').then((all) => all.Suggestions), null);

interface Suggesting {
  trigger: Trigger | null;
  place: number;
  offered: RefObject<Suggested[]>;
  choose: (suggested: Suggested) => void;
  /** After the text or the caret has changed. */
  look: () => void;
  /** Whether the key was for the list. */
  onKeyDown: (event: KeyboardEvent) => boolean;
  close: () => void;
  /** For the field that is typed into: when to look, and what the list is to it. */
  field: { onSelect: () => void; onBlur: () => void; 'aria-controls': string | undefined; 'aria-activedescendant': string | undefined };
}

export function useSuggestions(box: RefObject<HTMLTextAreaElement | null>, setDraft: (text: string) => void): Suggesting {
  const [trigger, setTrigger] = useState<Trigger | null>(null);
  const [place, setPlace] = useState(0);
  /** The name that Escape closed the list for. */
  const refused = useRef<number | null>(null);
  const offered = useRef<Suggested[]>([]);

  const look = () => {
    const node = box.current;
    const found = node && node.selectionStart === node.selectionEnd ? triggerAt(node.value, node.selectionStart) : null;
    if (!found || found.start !== refused.current) refused.current = null;
    setTrigger(refused.current === null ? found : null);
    if (found?.typed !== trigger?.typed) setPlace(0);
  };
  const close = () => setTrigger(null);
  const choose = ({ name, command }: Suggested) => {
    const node = box.current;
    if (!node || !trigger) return;
    close();
    if (command && command.wants === undefined) {
      setDraft('');
      command.run('');
      return;
    }
    const { text, caret } = complete(node.value, trigger, name);
    // At once: a caret that is put a frame later lands amid what was typed by then.
    flushSync(() => setDraft(text));
    node.focus();
    node.setSelectionRange(caret, caret);
  };
  const onKeyDown = (event: KeyboardEvent): boolean => {
    const all = offered.current;
    if (!trigger) return false;
    if (event.key === 'Escape') {
      refused.current = trigger.start;
      close();
      return true;
    }
    if (all.length === 0) return false;
    const at = Math.min(place, all.length - 1);
    const chosen = all[at];
    if (event.key === 'ArrowDown') setPlace((at + 1) % all.length);
    else if (event.key === 'ArrowUp') setPlace((at + all.length - 1) % all.length);
    else if ((event.key === 'Enter' || event.key === 'Tab') && !event.shiftKey && chosen) choose(chosen);
    else return false;
    event.preventDefault();
    return true;
  };
  const field = { onSelect: look, onBlur: close, 'aria-controls': trigger ? LIST_ID : undefined, 'aria-activedescendant': trigger ? optionId(place) : undefined };
  return { trigger, place, offered, choose, look, onKeyDown, close, field };
}
