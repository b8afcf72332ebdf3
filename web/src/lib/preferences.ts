// What this browser remembers of how its user wants to work.
import { create } from 'zustand';

const SHIFT_TAB = 'planwright.shiftTab';
const LETTERS = 'planwright.letters';
const GUIDE = 'planwright.guide';

interface Preferences {
  /** Whether Shift+Tab in the composer switches the mode, which takes the way back to the control before. */
  isShiftTabOn: boolean;
  /** Whether single letters are keys, as J and K in the inbox. */
  areLettersOn: boolean;
  /** Whether the guide of the demo was closed. */
  isGuideClosed: boolean;
}

export const usePreferences = create<Preferences>(() => ({
  isShiftTabOn: localStorage.getItem(SHIFT_TAB) !== 'off',
  areLettersOn: localStorage.getItem(LETTERS) !== 'off',
  isGuideClosed: localStorage.getItem(GUIDE) === 'closed',
}));

export function setShiftTab(isShiftTabOn: boolean): void {
  localStorage.setItem(SHIFT_TAB, isShiftTabOn ? 'on' : 'off');
  usePreferences.setState({ isShiftTabOn });
}

export function setLetters(areLettersOn: boolean): void {
  localStorage.setItem(LETTERS, areLettersOn ? 'on' : 'off');
  usePreferences.setState({ areLettersOn });
}

export function setGuide(state: 'open' | 'closed'): void {
  localStorage.setItem(GUIDE, state);
  usePreferences.setState({ isGuideClosed: state === 'closed' });
}
