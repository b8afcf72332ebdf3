// Short messages that disappear by themselves.
import { create } from 'zustand';
import { explained } from './problems';

interface Toast {
  id: number;
  text: string;
  isError: boolean;
  /** More about it, in a second line. */
  detail: string;
  action?: { label: string; run: () => void };
}

const SHOWN = 6_000;
/** Messages with an action stay longer. */
const SHOWN_WITH_ACTION = 20_000;
let next = 0;
export const useToasts = create<{ toasts: Toast[] }>(() => ({ toasts: [] }));

export function toast(text: string, options: { isError?: boolean; detail?: string; action?: Toast['action'] } = {}): void {
  const one: Toast = { id: (next += 1), text, isError: options.isError ?? false, detail: options.detail ?? '', ...(options.action && { action: options.action }) };
  useToasts.setState(({ toasts }) => ({ toasts: [...toasts.slice(-2), one] }));
  setTimeout(() => dismiss(one.id), one.action ? SHOWN_WITH_ACTION : SHOWN);
}

/** Shows an error, for the `catch` of a user's action. */
export const toastError = (reason: unknown) => void explained(reason).then(({ title, detail }) => toast(title, { isError: true, detail }));

export const dismiss = (id: number) => useToasts.setState(({ toasts }) => ({ toasts: toasts.filter((one) => one.id !== id) }));
