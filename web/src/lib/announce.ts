// What a screen reader says without the focus moving.
import { create } from 'zustand';

type Urgency = 'polite' | 'assertive';
export const useAnnouncements = create<Record<Urgency, string>>(() => ({ polite: '', assertive: '' }));

/** The same words twice in a row are still said twice. */
export function announce(text: string, urgency: Urgency = 'polite'): void {
  useAnnouncements.setState((state) => ({ [urgency]: state[urgency] === text ? `${text}\u00a0` : text }));
}
