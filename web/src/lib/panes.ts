// How wide the panes beside the page are, as this browser keeps it.
import { create } from 'zustand';

const KEY = 'planwright.panes';
export const PANES = { sidebar: { least: 200, usual: 232, most: 360 }, panel: { least: 320, usual: 376, most: 560 }, tree: { least: 220, usual: 300, most: 480 }, code: { least: 320, usual: 560, most: 900 } } as const;
export type PaneName = keyof typeof PANES;
type Widths = Partial<Record<PaneName, number>>;

function stored(): Widths {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? '{}') as Widths;
  } catch {
    return {};
  }
}

const useWidths = create<{ widths: Widths }>(() => ({ widths: stored() }));
const within = (name: PaneName, width: number) => Math.round(Math.min(PANES[name].most, Math.max(PANES[name].least, width)));

export const useWidth = (name: PaneName): number => within(name, useWidths((state) => state.widths[name]) ?? PANES[name].usual);

export function setWidth(name: PaneName, width: number): void {
  const widths = { ...stored(), [name]: within(name, width) };
  localStorage.setItem(KEY, JSON.stringify(widths));
  useWidths.setState({ widths });
}
