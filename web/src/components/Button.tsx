import type { ComponentProps } from 'react';

export type ButtonLook = 'primary' | 'secondary' | 'danger' | 'quiet';

const LOOKS: Record<ButtonLook, string> = {
  // Filled in the colour of the mode around it; blue where there is none.
  primary: 'bg-[var(--mode,var(--plan))] text-on-accent font-semibold border-transparent hover:brightness-110',
  secondary: 'bg-bg text-fg border-control hover:bg-surface',
  danger: 'bg-critical text-on-accent font-semibold border-transparent hover:brightness-110',
  quiet: 'bg-transparent text-muted border-transparent hover:bg-surface hover:text-fg',
};

export const buttonClass = (look: ButtonLook) =>
  `inline-flex min-h-8 items-center justify-center gap-1.5 rounded-sm border px-3 py-1 text-base select-none pointer-coarse:min-h-11 disabled:opacity-55 aria-disabled:opacity-55 ${LOOKS[look]}`;

export function Button({ look = 'secondary', className = '', type = 'button', ...rest }: ComponentProps<'button'> & { look?: ButtonLook }) {
  return <button type={type} className={`${buttonClass(look)} ${className}`} {...rest} />;
}
