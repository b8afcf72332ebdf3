import { createContext, useEffect, useState, type RefObject } from 'react';

/** What the foot of the bar knows about what is above it. */
interface More {
  /** Something of it is below what is shown. */
  isMore: boolean;
  /** Shows the next piece. */
  scrollOn: () => void;
}

export const MoreContext = createContext<More>({ isMore: false, scrollOn: () => undefined });

/** Watches a box that scrolls: whether there is more below, whatever grows or shrinks. */
export function useMore(box: RefObject<HTMLElement | null>): More {
  const [isMore, setMore] = useState(false);
  useEffect(() => {
    const node = box.current;
    if (node === null) return undefined;
    const look = () => setMore(node.scrollHeight - node.clientHeight - node.scrollTop > 8);
    const sizes = new ResizeObserver(look);
    const content = new MutationObserver(() => {
      for (const child of node.children) sizes.observe(child);
      look();
    });
    sizes.observe(node);
    for (const child of node.children) sizes.observe(child);
    content.observe(node, { childList: true, subtree: true });
    node.addEventListener('scroll', look, { passive: true });
    return () => {
      sizes.disconnect();
      content.disconnect();
      node.removeEventListener('scroll', look);
    };
  }, [box]);
  return { isMore, scrollOn: () => box.current?.scrollBy({ top: box.current.clientHeight * 0.6 }) };
}
