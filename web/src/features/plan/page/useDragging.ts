import type { PointerEvent } from 'react';
import { useReview } from './review';

/** Where a step would go: a line before the row that is pointed at. */
function targetAt(y: number): { to: number; row: HTMLElement } | null {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-step]')];
  const row = rows.find((one) => y < one.getBoundingClientRect().top + one.offsetHeight / 2) ?? rows.at(-1);
  if (!row) return null;
  const number = Number(row.dataset.step);
  return { to: y < row.getBoundingClientRect().top + row.offsetHeight / 2 ? number : number + 1, row };
}

/** What makes an element the grip of a step. Keys do the same. */
export function useDragging(step: number) {
  const { edits } = useReview();
  const clear = () => document.querySelectorAll('[data-drop]').forEach((one) => one.removeAttribute('data-drop'));
  return {
    onPointerDown: (event: PointerEvent<HTMLElement>) => {
      if (event.button !== 0) return;
      event.preventDefault();
      const grip = event.currentTarget;
      grip.setPointerCapture(event.pointerId);
      const onMove = (moved: globalThis.PointerEvent) => {
        clear();
        const target = targetAt(moved.clientY);
        target?.row.setAttribute('data-drop', target.to > Number(target.row.dataset.step) ? 'after' : 'before');
      };
      const end = () => {
        clear();
        grip.removeEventListener('pointermove', onMove);
        grip.removeEventListener('pointerup', onUp);
        grip.removeEventListener('pointercancel', end);
      };
      const onUp = (up: globalThis.PointerEvent) => {
        end();
        const to = targetAt(up.clientY)?.to;
        // Taking the step out moves up what is below it.
        if (to !== undefined) void edits.move(step, to > step ? to - 1 : to);
      };
      grip.addEventListener('pointermove', onMove);
      grip.addEventListener('pointerup', onUp);
      grip.addEventListener('pointercancel', end);
    },
  };
}
