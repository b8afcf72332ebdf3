import type { ComponentProps } from 'react';

export type ButtonLook = 'primary' | 'secondary' | 'danger' | 'quiet';

const LOOKS: Record<ButtonLook, string> = {
  primary: 'bg-primary text-on-primary font-semibold border-primary hover:bg-primary/90',
  secondary: 'bg-bg text-fg border-line2 hover:bg-surface',
  danger: 'bg-bg text-critical font-semibold border-critical hover:bg-critical-soft',
  quiet: 'bg-transparent text-fg2 border-transparent hover:bg-sunken hover:text-fg',
};

const OFF = 'disabled:border-line2 disabled:bg-sunken disabled:text-muted';
/** For a button that can't be pressed now and stays focusable, to say why. */
export const offClass = 'cursor-not-allowed border-line2! bg-sunken! text-muted!';

export const buttonClass = (look: ButtonLook) =>
  `inline-flex min-h-7.5 items-center justify-center gap-1.5 rounded-sm border px-3 py-1 text-sm font-medium select-none aria-disabled:opacity-70 pointer-coarse:min-h-11 ${LOOKS[look]} ${look === 'quiet' ? 'disabled:opacity-55' : OFF}`;

export function Button({ look = 'secondary', className = '', type = 'button', ...rest }: ComponentProps<'button'> & { look?: ButtonLook }) {
  return <button type={type} className={`${buttonClass(look)} ${className}`} {...rest} />;
}
