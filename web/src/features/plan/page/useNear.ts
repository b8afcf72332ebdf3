import { type RefObject, useEffect, useState } from 'react';

/** How far beyond the window something is drawn ahead, in pixels. */
const AHEAD = 300;

/** Whether an element is in the part of its scroller that is shown, or nearly. */
export function useNear(element: RefObject<HTMLElement | null>): boolean {
  const [isNear, setNear] = useState(false);
  useEffect(() => {
    const node = element.current;
    if (!node) return undefined;
    const observer = new IntersectionObserver((entries) => setNear(entries.at(-1)?.isIntersecting ?? false), { rootMargin: `${AHEAD}px 0px`, root: node.closest('[data-scroller]') });
    observer.observe(node);
    return () => observer.disconnect();
  }, [element]);
  return isNear;
}
