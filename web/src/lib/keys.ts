// Keys that work anywhere on the page.
import { useEffect, useRef } from 'react';

const isApple = () => /Mac|iPhone|iPad/.test(navigator.platform);
/** As it stands on the key. */
export const modifier = () => (isApple() ? '⌘' : 'Ctrl');

/** `Mod+.` or `Alt+ArrowUp`: exactly these modifiers, never while an input method composes. */
export function isKey(event: Pick<KeyboardEvent, 'key' | 'metaKey' | 'ctrlKey' | 'altKey' | 'shiftKey' | 'isComposing'>, keys: string): boolean {
  const parts = keys.split('+');
  const key = parts.pop() ?? '';
  const mod = isApple() ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey;
  const none = !event.metaKey && !event.ctrlKey;
  return (
    !event.isComposing &&
    event.key.toLowerCase() === key.toLowerCase() &&
    (parts.includes('Mod') ? mod : none) &&
    event.altKey === parts.includes('Alt') &&
    event.shiftKey === parts.includes('Shift')
  );
}

type Shortcuts = Record<string, () => void>;

export function useShortcuts(shortcuts: Shortcuts): void {
  const current = useRef(shortcuts);
  current.current = shortcuts;
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      for (const [keys, run] of Object.entries(current.current)) {
        if (event.defaultPrevented || !isKey(event, keys)) continue;
        event.preventDefault();
        run();
      }
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, []);
}
