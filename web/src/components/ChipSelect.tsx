import { ChevronDown } from 'lucide-react';
import type { ComponentProps, ReactNode } from 'react';

/** A choice in a toolbar: the browser's own list, drawn as text with an arrow. */
export function ChipSelect<T extends string>({ label, icon, value, options, choose, className = '', ...rest }: Omit<ComponentProps<'select'>, 'value'> & { label: string; icon?: ReactNode; value: T; options: readonly (readonly [T, string])[]; choose: (value: T) => void }) {
  return (
    <span className={`relative inline-flex min-w-0 items-center ${className}`}>
      {icon && <span className="pointer-events-none absolute left-2 text-fg2">{icon}</span>}
      <select value={value} aria-label={label} onChange={(event) => choose(event.target.value as T)} className={`field-sizing-content min-h-7.5 w-full min-w-0 cursor-pointer appearance-none truncate rounded-sm bg-transparent pr-6 text-fg2 hover:bg-fg/5 hover:text-fg pointer-coarse:min-h-11 ${icon ? 'pl-7.5' : 'pl-2'}`} {...rest}>
        {options.map(([key, words]) => <option key={key} value={key} className="bg-raised text-fg">{words}</option>)}
      </select>
      <ChevronDown size={14} aria-hidden className="pointer-events-none absolute right-1.5 text-fg2" />
    </span>
  );
}
