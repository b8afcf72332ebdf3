// Fields of forms that are no questions of the agent.
import { useId, type ComponentProps, type ReactNode } from 'react';

const fieldClass = 'min-h-9 w-full rounded-sm border border-control bg-bg px-2.5 pointer-coarse:min-h-11 aria-invalid:border-critical';

export function TextInput({ label, hint, error, className = '', ...rest }: ComponentProps<'input'> & { label: string; hint?: ReactNode; error?: string | null }) {
  const id = useId();
  return (
    <div className={`flex min-w-0 flex-col gap-1 ${className}`}>
      <label htmlFor={id} className="font-medium">{label}</label>
      <input id={id} aria-invalid={error ? true : undefined} aria-describedby={`${id}-hint`} className={fieldClass} {...rest} />
      <div id={`${id}-hint`} className="text-sm text-muted empty:hidden">{error ? <span role="alert" className="text-critical">{error}</span> : hint}</div>
    </div>
  );
}

export function Select<T extends string>({ label, value, options, choose, isLabelHidden = false, ...rest }: Omit<ComponentProps<'select'>, 'value'> & {
  label: string;
  value: T;
  /** Value, words, and whether it can't be chosen. */
  options: readonly (readonly [T, string, boolean?])[];
  choose: (value: T) => void;
  isLabelHidden?: boolean;
}) {
  const id = useId();
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <label htmlFor={id} className={isLabelHidden ? 'sr-only' : 'font-medium'}>{label}</label>
      <select id={id} value={value} onChange={(event) => choose(event.target.value as T)} className={`${fieldClass} disabled:opacity-60`} {...rest}>
        {options.map(([key, words, isOff]) => <option key={key} value={key} disabled={isOff}>{words}</option>)}
      </select>
    </div>
  );
}

/** One of a few, each with a word of explanation. */
export function Choices<T extends string>({ label, value, options, choose, isDisabled = false }: {
  label: string;
  value: T;
  options: readonly (readonly [T, string, string?])[];
  choose: (value: T) => void;
  isDisabled?: boolean;
}) {
  const name = useId();
  return (
    <fieldset disabled={isDisabled} className="flex min-w-0 flex-col gap-1.5">
      <legend className="mb-1 font-medium">{label}</legend>
      {options.map(([key, words, hint]) => (
        <label key={key} className="flex cursor-pointer items-start gap-2.5 rounded-md border px-3 py-2 has-checked:border-fg has-checked:ring-1 has-checked:ring-fg has-checked:ring-inset has-focus-visible:outline-2 has-disabled:cursor-default has-disabled:text-muted">
          <input type="radio" name={name} value={key} checked={key === value} onChange={() => choose(key)} className="mt-1 shrink-0 outline-none" />
          <span className="min-w-0">
            <span className="block">{words}</span>
            {hint && <span className="block text-sm text-muted">{hint}</span>}
          </span>
        </label>
      ))}
    </fieldset>
  );
}
