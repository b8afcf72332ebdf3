import { useEffect, useLayoutEffect, useRef } from 'react';
import { createPortal } from 'react-dom';
import { hideTip, useTip } from '@/lib/tip';
import { popupRoot } from './Popup';

const GAP = 6;

/** Draws the tooltip below what it explains, or above where there is no room. Escape, a click or scrolling takes it away. */
export function TipLayer() {
  const shown = useTip((state) => state.shown);
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const node = box.current;
    if (!node || !shown) return;
    const target = shown.target.getBoundingClientRect();
    const { width, height } = node.getBoundingClientRect();
    const isAbove = target.bottom + GAP + height > innerHeight;
    node.style.top = `${isAbove ? target.top - GAP - height : target.bottom + GAP}px`;
    node.style.left = `${Math.max(GAP, Math.min(innerWidth - width - GAP, target.left + target.width / 2 - width / 2))}px`;
  }, [shown]);
  useEffect(() => {
    const hide = () => hideTip();
    const onKeyDown = (event: KeyboardEvent) => event.key === 'Escape' && hideTip();
    addEventListener('keydown', onKeyDown);
    addEventListener('pointerdown', hide);
    addEventListener('scroll', hide, true);
    return () => {
      removeEventListener('keydown', onKeyDown);
      removeEventListener('pointerdown', hide);
      removeEventListener('scroll', hide, true);
    };
  }, []);
  if (!shown) return null;
  return createPortal(
    <div ref={box} role="tooltip" className="pointer-events-none fixed z-60 max-w-72 rounded-sm bg-fg px-2 py-1 text-sm text-bg shadow-raised">{shown.text}</div>,
    popupRoot(),
  );
}
