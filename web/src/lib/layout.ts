// What is open beside the content, and how wide the window is.
import { useSyncExternalStore } from 'react';
import { create } from 'zustand';

interface Layout {
  isSidebarOpen: boolean;
  /** The list of chats as a drawer, on narrow screens. */
  isDrawerOpen: boolean;
  /** `null`: as the width allows. */
  isPanelOpen: boolean | null;
}

export const useLayout = create<Layout>(() => ({ isSidebarOpen: true, isDrawerOpen: false, isPanelOpen: null }));

/** Whether a media query holds, now and later. */
export function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (changed) => {
      const list = matchMedia(query);
      list.addEventListener('change', changed);
      return () => list.removeEventListener('change', changed);
    },
    () => matchMedia(query).matches,
  );
}

export const useIsNarrow = () => useMedia('(max-width: 639px)');
export const useIsWide = () => useMedia('(min-width: 1200px)');
