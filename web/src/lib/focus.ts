// Where the focus goes when its element is removed.

/** Marks the field that people type into on this page. */
export const MAIN_FIELD = 'data-main-field';
/** Marks where the focus goes instead on a touch screen, where a focused field opens the keyboard. */
export const MAIN_PLACE = 'data-main-place';
/** A key within this time may have been meant for the removed element. */
const QUIET = 700;

let quietUntil = 0;

/** Whether an answered element has just passed on the focus: then Enter may have been meant for it. */
export const isQuiet = (): boolean => performance.now() < quietUntil;
/** A user who types has noticed the new focus. */
export const endQuiet = () => {
  quietUntil = 0;
};

/** Focuses the page's own field. */
export function focusMain(): void {
  const isTouch = matchMedia('(pointer: coarse)').matches;
  const field = document.querySelector<HTMLElement>(`[${isTouch ? MAIN_PLACE : MAIN_FIELD}]`);
  field?.focus({ preventScroll: true });
}

/** The same after this frame, if nothing has the focus by then. */
export function focusMainIfLost(): void {
  requestAnimationFrame(() => {
    if (document.activeElement === null || document.activeElement === document.body) focusMain();
  });
}

/** The same for elements that decide by key: the next Enter must not trigger something else. */
export function handFocusOn(): void {
  quietUntil = performance.now() + QUIET;
  focusMainIfLost();
}
