import type { ReactNode } from 'react';

interface Props<T extends string> {
  label: string;
  value: T;
  choose: (value: T) => void;
  choices: [T, ReactNode][];
}

/** A few choices side by side, of which one holds. */
export function Segments<T extends string>({ label, value, choose, choices }: Props<T>) {
  return (
    <div role="group" aria-label={label} className="inline-flex rounded-sm bg-sunken p-0.5">
      {choices.map(([key, name]) => (
        <button
          key={key}
          type="button"
          aria-pressed={key === value}
          onClick={() => choose(key)}
          className="inline-flex min-h-6.5 items-center gap-1 rounded-sm px-2.5 text-sm text-fg2 hover:text-fg aria-pressed:bg-bg aria-pressed:font-semibold aria-pressed:text-fg aria-pressed:shadow-xs pointer-coarse:min-h-11"
        >
          {name}
        </button>
      ))}
    </div>
  );
}
