// The one tooltip of the page.
import { create } from 'zustand';

interface Shown {
  target: HTMLElement;
  text: string;
}

const DELAY = 350;
let timer: ReturnType<typeof setTimeout> | undefined;
export const useTip = create<{ shown: Shown | null }>(() => ({ shown: null }));

export function showTip(target: HTMLElement, text: string): void {
  clearTimeout(timer);
  timer = setTimeout(() => {
    // What has opened by now explains itself.
    const isOpen = !target.isConnected || target.getAttribute('aria-expanded') === 'true';
    if (!isOpen) useTip.setState({ shown: { target, text } });
  }, DELAY);
}

/** Without a target, whatever is shown. */
export function hideTip(target?: HTMLElement): void {
  clearTimeout(timer);
  const { shown } = useTip.getState();
  if (shown && (!target || shown.target === target)) useTip.setState({ shown: null });
}
