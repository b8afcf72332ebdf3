import { useText } from '@/i18n';
import type { ControlProps, FieldOf } from './Control';
import { FieldFrame, inputClass, wired } from './frame';

/** One line of text, or several. */
export function TextField(props: ControlProps<FieldOf<'line'> | FieldOf<'area'>>) {
  const t = useText('question');
  const { field, draft, onEnter } = props;
  const { id, name, state } = wired(props);
  const entered = draft[field.pointer];
  const value = typeof entered === 'string' ? entered : '';
  const left = field.longest === undefined ? undefined : field.longest - Array.from(value).length;
  const common = {
    id,
    ...name,
    ...state,
    value,
    placeholder: field.example,
    autoComplete: 'off',
    onChange: (event: { target: { value: string } }) => onEnter(field.pointer, event.target.value),
  };
  return (
    <FieldFrame {...props}>
      {field.kind === 'area' ? (
        <textarea {...common} rows={3} className={`${inputClass} field-sizing-content min-h-18 max-h-48`} />
      ) : (
        // Not `type="email"` and the like: the browser's own messages would come before ours, in another language.
        <input {...common} type={field.input === 'date' ? 'date' : 'text'} inputMode={field.input === 'email' || field.input === 'url' ? field.input : 'text'} spellCheck={field.input === 'text'} className={inputClass} />
      )}
      {left !== undefined && left < 20 && <p className={`text-xs ${left < 0 ? 'text-critical' : 'text-muted'}`}>{t('charactersLeft', { count: left })}</p>}
    </FieldFrame>
  );
}
