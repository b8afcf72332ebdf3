// The open panels, and the width of the window.
import { useSyncExternalStore } from 'react';
import { useLocation } from 'wouter';
import { create } from 'zustand';

interface Layout {
  isSidebarOpen: boolean;
  /** The list of chats as a drawer, on narrow screens. */
  isDrawerOpen: boolean;
  /** `null`: as the width allows. */
  isPanelOpen: boolean | null;
  panelTab: PanelTab;
  /** The file that the panel shows; of one workspace. */
  file: ShownFile | null;
}

export type PanelTab = 'plan' | 'changes' | 'files' | 'context';
interface ShownFile {
  workspace: string;
  path: string;
  line: number | null;
}

export const useLayout = create<Layout>(() => ({ isSidebarOpen: true, isDrawerOpen: false, isPanelOpen: null, panelTab: 'plan', file: null }));

/** Whether the panel is open. Where there is room it opens with the first plan; elsewhere it covers something, so only when asked for. */
export function useIsPanelOpen(hasPlan: boolean): boolean {
  const chosen = useLayout((state) => state.isPanelOpen);
  const isWide = useIsWide();
  return chosen ?? (isWide && hasPlan);
}

export const openPanel = (panelTab: PanelTab) => useLayout.setState({ isPanelOpen: true, panelTab });
/** Shows a file in the panel of the chat, at a line if one is named. */
export const openFile = (workspace: string, path: string, line: number | null = null) =>
  useLayout.setState({ isPanelOpen: true, panelTab: 'files', file: { workspace, path, line } });

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

/** The list of chats: beside the page, as a rail of icons, or on a phone only as a drawer. */
type SidebarLook = 'docked' | 'rail' | 'drawer';

const REVIEW = /^\/w\/[^/]+\/c\/[^/]+\/(plan|changes)$/;

/** How the list of chats is shown. `canDock`: there is room for it beside the page, so that it opens there. */
export function useSidebarLook(): { look: SidebarLook; canDock: boolean } {
  const isNarrow = useIsNarrow();
  const hasRoom = useMedia('(min-width: 1024px)');
  const [location] = useLocation();
  const isOpen = useLayout((state) => state.isSidebarOpen);
  const canDock = hasRoom && !REVIEW.test(location);
  return { look: isNarrow ? 'drawer' : canDock && isOpen ? 'docked' : 'rail', canDock };
}

export const openSidebar = (canDock: boolean) => useLayout.setState(canDock ? { isSidebarOpen: true } : { isDrawerOpen: true });
