import { cloneElement, Suspense, useState, type KeyboardEvent, type ReactElement, type ReactNode } from 'react';

/**
 * A button whose menu is loaded when it is first wanted. `menu` draws the loaded one around the button, open at once;
 * `load` begins to load it when the button is pointed at.
 */
export function DropDown({ button, menu, load }: { button: ReactElement<Record<string, unknown>>; menu: (button: ReactElement) => ReactNode; load: () => unknown }) {
  const [isWanted, setWanted] = useState(false);
  if (isWanted) return <Suspense fallback={button}>{menu(button)}</Suspense>;
  return cloneElement(button, {
    'aria-expanded': false,
    onClick: () => setWanted(true),
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key === 'ArrowDown' || event.key === 'ArrowUp') setWanted(true);
    },
    onPointerEnter: load,
    onFocus: load,
  });
}
