// The icon of the tab: the colour of the mode, and a dot while a question waits.
import type { Mode } from '@/lib/api/types';

const shown: { mode: Mode | null; isWaiting: boolean } = { mode: null, isWaiting: false };

export const faviconOf = (mode: Mode | null, isWaiting: boolean) => `/favicon${mode ? `-${mode}` : ''}${isWaiting ? '-question' : ''}.svg`;

function show(change: Partial<typeof shown>): void {
  Object.assign(shown, change);
  document.querySelector('link[rel="icon"]')?.setAttribute('href', faviconOf(shown.mode, shown.isWaiting));
}

/** `null` on pages that are not of a chat. */
export const setFaviconMode = (mode: Mode | null) => show({ mode });
export const setFaviconWaiting = (isWaiting: boolean) => show({ isWaiting });
