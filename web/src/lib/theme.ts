// Light, dark, or the system's theme.
import { create } from 'zustand';

export type Theme = 'light' | 'dark' | 'system';
const KEY = 'planwright.theme';
const stored = localStorage.getItem(KEY);
const dark = matchMedia('(prefers-color-scheme: dark)');

export const useTheme = create<{ theme: Theme }>(() => ({ theme: stored === 'light' || stored === 'dark' ? stored : 'system' }));

export function setTheme(theme: Theme): void {
  localStorage.setItem(KEY, theme);
  useTheme.setState({ theme });
}

const show = () => {
  const { theme } = useTheme.getState();
  document.documentElement.dataset.theme = theme === 'system' ? (dark.matches ? 'dark' : 'light') : theme;
};

/** Follows the choice and the system from now on. */
export function startTheme(): void {
  show();
  useTheme.subscribe(show);
  dark.addEventListener('change', show);
}
