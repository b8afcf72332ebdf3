import type { ComponentProps, ReactNode } from 'react';
import { Tip } from './Tip';

/** A button that is only an icon: its name is also its tooltip. */
export function IconButton({ label, children, className = '', ...rest }: ComponentProps<'button'> & { label: string; children: ReactNode }) {
  return (
    <Tip text={label}>
      <button
        type="button"
        aria-label={label}
        className={`inline-flex size-8 shrink-0 items-center justify-center rounded-sm text-fg2 hover:bg-sunken hover:text-fg aria-pressed:bg-sunken aria-pressed:text-fg disabled:opacity-55 pointer-coarse:size-11 ${className}`}
        {...rest}
      >
        {children}
      </button>
    </Tip>
  );
}
