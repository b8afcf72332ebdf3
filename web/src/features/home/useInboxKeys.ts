// The keys of the inbox: J and K move between rows, E puts away, X selects, C begins a task, / filters.
import type { RefObject } from 'react';
import { focusMain } from '@/lib/focus';
import { showDialog } from '@/lib/dialogs';
import { useLetters } from '@/lib/letters';
import type { Row } from './rows';
import type { Selection } from './useSelection';

interface Acts {
  rows: Row[];
  selection: Selection;
  archive: (rows: Row[]) => Promise<void>;
  field: RefObject<HTMLInputElement | null>;
}

const links = () => [...document.querySelectorAll<HTMLElement>('[data-row-link]')];
const place = (all: HTMLElement[]) => all.findIndex((link) => link.closest('[data-row]')?.contains(document.activeElement));

/** Where the row of a chat stands. */
export const placeOf = (id: string) => links().findIndex((link) => link.closest<HTMLElement>('[data-row]')?.dataset.row === id);

export function focusRow(index: number): void {
  const all = links();
  const link = all[Math.max(0, Math.min(index, all.length - 1))];
  link?.focus();
  link?.scrollIntoView({ block: 'nearest' });
}

/** A row that goes leaves its focus to the next one. Focus that is somewhere else by now stays there. */
export function takeLostFocus(index: number): void {
  requestAnimationFrame(() => {
    if (document.activeElement === document.body) focusRow(index);
  });
}

export function useInboxKeys({ rows, selection, archive, field }: Acts): void {
  const current = () => rows.find(({ id }) => id === document.activeElement?.closest<HTMLElement>('[data-row]')?.dataset.row);
  useLetters({
    j: () => focusRow(place(links()) + 1),
    k: () => focusRow(place(links()) - 1),
    x: () => {
      const row = current();
      if (row) selection.toggle(row.id);
    },
    e: () => {
      const chosen = rows.filter(({ id }) => selection.has(id));
      const row = current();
      const at = place(links());
      if (chosen.length === 0 && !row) return;
      void archive(chosen.length > 0 ? chosen : row ? [row] : []).then(() => takeLostFocus(at));
      selection.clear();
    },
    c: focusMain,
    '/': () => field.current?.focus(),
    '?': () => showDialog({ kind: 'shortcuts' }),
  });
}
