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
    <div role="group" aria-label={label} className="inline-flex overflow-hidden rounded-sm border border-control">
      {choices.map(([key, name]) => (
        <button
          key={key}
          type="button"
          aria-pressed={key === value}
          onClick={() => choose(key)}
          className="inline-flex min-h-8 items-center gap-1 px-2.5 text-sm not-first:border-l not-first:border-control hover:bg-surface aria-pressed:bg-surface aria-pressed:font-semibold pointer-coarse:min-h-11"
        >
          {name}
        </button>
      ))}
    </div>
  );
}
