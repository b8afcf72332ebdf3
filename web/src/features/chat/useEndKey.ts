import { useEffect, useRef } from 'react';
import { isKey } from '@/lib/keys';

/** What has a use of its own for the key, as long as it is open. */
const OVERLAYS = '[role="dialog"], [role="alertdialog"], [role="menu"], [role="listbox"]:not([hidden])';

/** End goes to the latest, unless a text is being edited or something else wants the key. */
export function useEndKey(toEnd: () => void): void {
  const current = useRef(toEnd);
  current.current = toEnd;
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || !isKey(event, 'End') || isEdited(event.target) || document.querySelector(OVERLAYS) !== null) return;
      event.preventDefault();
      current.current();
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, []);
}

/** In an empty field there is nowhere to go with the caret. */
const isEdited = (target: EventTarget | null): boolean =>
  target instanceof HTMLSelectElement || ((target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement) && target.value !== '');
