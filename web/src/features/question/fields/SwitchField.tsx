import { useText } from '@/i18n';
import type { ControlProps, FieldOf } from './Control';
import { ErrorText, wired } from './frame';

/** On or off. Says which in words as well, since colour alone says nothing. */
export function SwitchField(props: ControlProps<FieldOf<'switch'>>) {
  const t = useText('question');
  const { field, draft, onEnter } = props;
  const { id, name, state } = wired(props);
  const { 'aria-required': _required, ...rest } = { 'aria-required': undefined, ...state };
  const on = draft[field.pointer] === true;
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <div className="flex min-h-8 items-center gap-2 pointer-coarse:min-h-11">
        <button
          id={id}
          type="button"
          role="switch"
          aria-checked={on}
          {...name}
          {...rest}
          onClick={() => onEnter(field.pointer, !on)}
          className={`relative h-5 w-9 shrink-0 rounded-full border ${on ? 'border-transparent bg-primary' : 'border-control bg-bg'}`}
        >
          <span className={`absolute top-1/2 size-3.5 -translate-y-1/2 rounded-full ${on ? 'right-0.5 bg-on-primary' : 'left-0.5 bg-control'}`} />
        </button>
        {field.label !== undefined && <label htmlFor={id}>{field.label}</label>}
        <span className="text-sm text-muted" aria-hidden="true">
          {on ? t('yes') : t('no')}
        </span>
      </div>
      {field.description !== undefined && (
        <p id={`${id}-description`} className="text-sm text-muted">
          {field.description}
        </p>
      )}
      <ErrorText {...props} />
    </div>
  );
}
