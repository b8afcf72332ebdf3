// The look of what floats above the page.
export const popupClass = 'z-50 rounded-md border border-line bg-raised text-fg shadow-raised outline-none';
export const itemClass =
  'flex min-h-8 cursor-default items-center gap-2 rounded-sm px-2 py-1 outline-none select-none data-highlighted:bg-sunken data-disabled:opacity-60 pointer-coarse:min-h-11';

/** Where it is drawn: inside a landmark, so that nothing on the page is outside of all. `App` has the element. */
export const POPUPS = 'popups';
export const popupRoot = (): HTMLElement => document.getElementById(POPUPS) ?? document.body;
