import { useCallback, useState, type RefCallback } from 'react';

/** How wide an element is, now and later. */
export function useWidth(): [RefCallback<HTMLElement>, number] {
  const [width, setWidth] = useState(600);
  const frame = useCallback((node: HTMLElement | null) => {
    if (!node) return undefined;
    const watch = new ResizeObserver(([entry]) => entry && setWidth(entry.contentRect.width));
    watch.observe(node);
    return () => watch.disconnect();
  }, []);
  return [frame, width];
}
