import { useText } from '@/i18n';
import { readJson } from '../draft';
import type { ControlProps, FieldOf } from './Control';
import { FieldFrame, inputClass, wired } from './frame';

/** Whatever has no control of its own, as JSON. What can't be read is told while typing. */
export function JsonField(props: ControlProps<FieldOf<'json'>>) {
  const t = useText('question');
  const { field, draft, errors, onEnter } = props;
  const entered = draft[field.pointer];
  const text = typeof entered === 'string' ? entered : '';
  const read = text.trim() === '' ? undefined : readJson(text);
  const live = read !== undefined && 'why' in read ? { [field.pointer]: t('errorJson', { why: read.why }) } : {};
  // Errors below this place have no field of their own, so they are shown here.
  const below = Object.entries(errors).filter(([pointer]) => pointer.startsWith(`${field.pointer}/`));
  const told = below.length > 0 ? { [field.pointer]: below.map(([pointer, error]) => `${pointer.slice(field.pointer.length + 1)}: ${error}`).join(' ') } : {};
  const wiring = { ...props, errors: { ...told, ...errors, ...live } };
  const { id, name, state } = wired(wiring);
  return (
    <FieldFrame {...wiring}>
      <textarea
        id={id}
        {...name}
        {...state}
        value={text}
        rows={4}
        spellCheck={false}
        autoComplete="off"
        placeholder="{ }"
        onChange={(event) => onEnter(field.pointer, event.target.value)}
        className={`${inputClass} field-sizing-content min-h-20 max-h-56 font-mono text-sm`}
      />
      <details className="text-sm text-muted">
        <summary className="cursor-pointer">{t('schema')}</summary>
        <pre className="mt-1 max-h-40 overflow-auto rounded-sm bg-surface p-2 text-xs" tabIndex={0}>
          {JSON.stringify(field.schema, null, 2)}
        </pre>
      </details>
    </FieldFrame>
  );
}
