import { useRef, type MouseEvent, type PointerEvent } from 'react';
import type { Cursor } from './useCursor';

const keyUnder = (target: EventTarget | null): string | undefined => (target instanceof Element ? target.closest<HTMLElement>('[data-row]')?.dataset.row : undefined);
const isGutter = (target: EventTarget | null) => target instanceof Element && target.closest('[data-gutter]') !== null;

/** Comments by mouse: a click on a line's number, or a drag over several. A touch is a tap, so that the page still scrolls. */
export function usePointing(cursor: Cursor) {
  const dragged = useRef(false);
  const isTouch = useRef(false);
  return {
    onPointerDown: (event: PointerEvent) => {
      isTouch.current = event.pointerType === 'touch';
      const key = keyUnder(event.target);
      if (isTouch.current || event.button !== 0 || key === undefined || !isGutter(event.target)) return;
      event.preventDefault();
      dragged.current = true;
      cursor.put(key, false);
    },
    onPointerMove: (event: PointerEvent) => {
      if (!dragged.current) return;
      const key = keyUnder(document.elementFromPoint(event.clientX, event.clientY));
      // A range stays within its file.
      if (key !== undefined && key !== cursor.line && key.split('\0')[0] === cursor.current) cursor.put(key, true);
    },
    onPointerUp: () => {
      if (!dragged.current) return;
      dragged.current = false;
      cursor.comment();
    },
    onClick: (event: MouseEvent) => {
      const key = keyUnder(event.target);
      if (key === undefined) return;
      // A key or a screen reader clicks without a pointer.
      if (isGutter(event.target) && (event.detail === 0 || isTouch.current)) cursor.commentOn(key);
      else if (!isGutter(event.target) && getSelection()?.isCollapsed !== false) cursor.put(key, event.shiftKey);
    },
  };
}
