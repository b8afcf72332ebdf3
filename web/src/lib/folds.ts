// Which groups of the sidebar are open, as this browser keeps it.
import { create } from 'zustand';

const KEY = 'planwright.folds';
type Folds = Record<string, boolean>;

function stored(): Folds {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? '{}') as Folds;
  } catch {
    return {};
  }
}

export const useFolds = create<{ folds: Folds }>(() => ({ folds: stored() }));

export function setFold(group: string, isOpen: boolean): void {
  const folds = { ...stored(), [group]: isOpen };
  localStorage.setItem(KEY, JSON.stringify(folds));
  useFolds.setState({ folds });
}
