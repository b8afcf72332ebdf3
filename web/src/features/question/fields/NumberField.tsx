import type { ControlProps, FieldOf } from './Control';
import { FieldFrame, inputClass, wired } from './frame';

/** A number, typed as text: what is no number is told, and never silently dropped as the browser's own field does. */
export function NumberField(props: ControlProps<FieldOf<'number'>>) {
  const { field, draft, onEnter } = props;
  const { id, name, state } = wired(props);
  const value = draft[field.pointer];
  const range = [field.least, field.most].some((limit) => limit !== undefined) ? `${field.least ?? '−∞'} … ${field.most ?? '∞'}` : undefined;
  return (
    <FieldFrame {...props}>
      <input
        id={id}
        {...name}
        {...state}
        type="text"
        inputMode={field.integer && (field.least ?? -1) >= 0 ? 'numeric' : 'decimal'}
        autoComplete="off"
        value={typeof value === 'string' ? value : ''}
        placeholder={range}
        onChange={(event) => onEnter(field.pointer, event.target.value)}
        className={`${inputClass} max-w-48 tabular-nums`}
      />
    </FieldFrame>
  );
}
