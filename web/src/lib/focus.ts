// Where the focus goes when what had it is gone.

/** Marks the field that people type into on this page. */
export const MAIN_FIELD = 'data-main-field';
/** Marks where the focus goes instead on a touch screen, where a focused field opens the keyboard. */
export const MAIN_PLACE = 'data-main-place';
/** A key that was meant for what is gone comes within this time. */
const QUIET = 700;

let quietUntil = 0;

/** Whether the focus has just been handed on by something that was answered: then Enter may have been meant for that. */
export const isQuiet = (): boolean => performance.now() < quietUntil;
/** Who types has seen where they are. */
export const endQuiet = () => {
  quietUntil = 0;
};

/** Puts the focus into the page's own field. */
export function focusMain(): void {
  const isTouch = matchMedia('(pointer: coarse)').matches;
  const field = document.querySelector<HTMLElement>(`[${isTouch ? MAIN_PLACE : MAIN_FIELD}]`);
  field?.focus({ preventScroll: true });
}

/** The same once this frame is over, and only if nothing has the focus by then. */
export function focusMainIfLost(): void {
  requestAnimationFrame(() => {
    if (document.activeElement === null || document.activeElement === document.body) focusMain();
  });
}

/** The same for what people press keys in to decide: the next Enter must not do something else. */
export function handFocusOn(): void {
  quietUntil = performance.now() + QUIET;
  focusMainIfLost();
}
