// Single letters as keys: outside fields, without modifiers, and only if the user has not switched them off.
import { useEffect, useRef } from 'react';
import { usePreferences } from './preferences';

const TAKES_TEXT = 'input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable], [role=menu], [role=dialog], [role=alertdialog], [role=listbox]';

export function useLetters(letters: Record<string, (event: KeyboardEvent) => void>): void {
  const current = useRef(letters);
  current.current = letters;
  const isOn = usePreferences((state) => state.areLettersOn);
  useEffect(() => {
    if (!isOn) return undefined;
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.target instanceof Element && event.target.closest(TAKES_TEXT)) return;
      const run = current.current[event.key.toLowerCase()];
      if (!run) return;
      event.preventDefault();
      run(event);
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, [isOn]);
}
