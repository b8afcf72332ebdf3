// The ways in which people use a page: a mouse, the keyboard alone, a finger on a phone.
import { PHONE } from './stage.mjs';

/** Without a mouse: what can be reached is focused and pressed, once it can be pressed. */
async function pressKey(target) {
  await target.and(target.page().locator(':not([aria-disabled=true])')).waitFor();
  await target.focus();
  await target.page().keyboard.press('Enter');
}

export const HANDS = {
  mouse: { name: 'mouse', press: (target) => target.click(), options: {} },
  keys: { name: 'keys', press: pressKey, options: {} },
  touch: { name: 'touch', press: (target) => target.tap(), options: { size: PHONE } },
};
