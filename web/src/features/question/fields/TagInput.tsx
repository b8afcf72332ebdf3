import { X } from 'lucide-react';
import { type ClipboardEvent, type KeyboardEvent, useRef, useState } from 'react';
import { useText } from '@/i18n';
import type { ControlProps, FieldOf } from './Control';
import { FieldFrame, wired } from './frame';

/** A list of texts or numbers: Enter or comma adds one, Backspace in the empty field takes the last one back. */
export function TagInput(props: ControlProps<FieldOf<'tags'>>) {
  const t = useText('question');
  const { field, draft, onEnter } = props;
  const { id, name, state } = wired(props);
  const [typed, setTyped] = useState('');
  const box = useRef<HTMLInputElement>(null);
  const entered = draft[field.pointer];
  const tags = Array.isArray(entered) ? entered.map(String) : [];
  const set = (next: string[]) => onEnter(field.pointer, next.length > 0 ? next : undefined);
  const add = (text: string) => {
    const fresh = text.split(/[,,\n]/).map((tag) => tag.trim()).filter((tag) => tag !== '' && !tags.includes(tag));
    if (fresh.length > 0) set([...tags, ...fresh]);
    setTyped('');
  };
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.nativeEvent.isComposing || event.ctrlKey || event.metaKey) return;
    if ((event.key === 'Enter' || event.key === ',') && typed.trim() !== '') {
      event.preventDefault();
      add(typed);
    } else if (event.key === 'Backspace' && typed === '' && tags.length > 0) set(tags.slice(0, -1));
  };
  const remove = (place: number) => {
    set(tags.filter((_, other) => other !== place));
    box.current?.focus();
  };
  const onPaste = (event: ClipboardEvent<HTMLInputElement>) => {
    const text = event.clipboardData.getData('text');
    if (!/[,,\n]/.test(text)) return;
    event.preventDefault();
    add(text);
  };
  return (
    <FieldFrame {...props}>
      <div className={`flex flex-wrap items-center gap-1.5 rounded-sm border bg-bg p-1.5 focus-within:outline-2 focus-within:outline-offset-2 focus-within:outline-fg ${state['aria-invalid'] ? 'border-critical' : 'border-control'}`}>
        {tags.map((tag, place) => (
          <span key={tag} className="inline-flex max-w-full items-center gap-1 rounded-sm bg-surface py-0.5 pr-0.5 pl-2 text-sm">
            <span className="truncate">{tag}</span>
            <button type="button" aria-label={t('removeTag', { tag })} onClick={() => remove(place)} className="inline-flex size-6 items-center justify-center rounded-sm text-muted hover:text-fg">
              <X className="size-3.5" aria-hidden="true" />
            </button>
          </span>
        ))}
        <input
          ref={box}
          id={id}
          {...name}
          {...state}
          value={typed}
          inputMode={field.of === 'text' ? 'text' : 'decimal'}
          autoComplete="off"
          placeholder={tags.length === 0 ? t('addTag') : undefined}
          onChange={(event) => setTyped(event.target.value)}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
          onBlur={() => typed.trim() !== '' && add(typed)}
          className="min-w-32 flex-1 bg-transparent px-1 py-0.5 outline-none placeholder:text-muted"
        />
      </div>
    </FieldFrame>
  );
}
