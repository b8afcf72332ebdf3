import { Check, ChevronsUpDown } from 'lucide-react';
import { type KeyboardEvent, useRef, useState } from 'react';
import { useText } from '@/i18n';
import type { Choice } from '../field';
import type { ControlProps, FieldOf } from './Control';
import { FieldFrame, inputClass, wired } from './frame';

/** One of many choices, found by typing. The list stands below the field, so that nothing covers the question. */
export function ChoiceList(props: ControlProps<FieldOf<'list'>>) {
  const t = useText('question');
  const { field, draft, onEnter } = props;
  const { id, name, state } = wired(props);
  const entered = draft[field.pointer];
  const chosen = Array.isArray(entered) ? Number(entered[0]) : undefined;
  const [typed, setTyped] = useState<string>();
  const [active, setActive] = useState(0);
  const box = useRef<HTMLInputElement>(null);
  const open = typed !== undefined;
  const found = field.choices.map((choice, place) => ({ choice, place })).filter(({ choice }) => fits(choice, typed ?? ''));
  const close = () => setTyped(undefined);
  const start = (text: string) => {
    setTyped(text);
    setActive(0);
  };
  const choose = (place: number | undefined) => {
    onEnter(field.pointer, place === undefined ? undefined : [place]);
    close();
    box.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (move !== undefined) {
      event.preventDefault();
      if (open) setActive((active + move + found.length) % Math.max(1, found.length));
      else start('');
    } else if (open && event.key === 'Enter' && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      if (found[active] !== undefined) choose(found[active].place);
    } else if (open && event.key === 'Escape') {
      event.stopPropagation();
      close();
    }
  };
  const shown = typed ?? (chosen === undefined ? '' : (field.choices[chosen]?.label ?? ''));
  return (
    <FieldFrame {...props}>
      <div className="relative max-w-96">
        <input
          ref={box}
          id={id}
          {...name}
          {...state}
          role="combobox"
          aria-expanded={open}
          aria-controls={`${id}-list`}
          aria-autocomplete="list"
          aria-activedescendant={open && found[active] !== undefined ? `${id}-${found[active].place}` : undefined}
          autoComplete="off"
          value={shown}
          placeholder={t('choose')}
          onClick={() => !open && start('')}
          onChange={(event) => start(event.target.value)}
          onKeyDown={onKeyDown}
          onBlur={close}
          className={`${inputClass} pr-9`}
        />
        <ChevronsUpDown className="pointer-events-none absolute top-2 right-2.5 size-4 text-muted" aria-hidden="true" />
      </div>
      <ul id={`${id}-list`} role="listbox" {...name} aria-label={field.label} hidden={!open} className="max-h-44 max-w-96 overflow-y-auto rounded-sm border bg-bg p-1">
        {found.map(({ choice, place }, index) => (
          <li
            key={place}
            id={`${id}-${place}`}
            role="option"
            aria-selected={place === chosen}
            // The field must keep the focus, or the list closes before the click arrives.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => choose(place)}
            className={`flex min-h-8 cursor-pointer items-center gap-2 rounded-sm px-2 py-1 hover:bg-surface pointer-coarse:min-h-11 ${index === active ? 'bg-surface outline-1 outline-control' : ''}`}
          >
            <Check className={`size-4 shrink-0 ${place === chosen ? '' : 'invisible'}`} aria-hidden="true" />
            <span className="min-w-0 break-words">
              {choice.label}
              {choice.description !== undefined && <span className="block text-sm text-muted">{choice.description}</span>}
            </span>
          </li>
        ))}
      </ul>
      {open && found.length === 0 && <p className="text-sm text-muted">{t('noneFound')}</p>}
      {chosen !== undefined && !field.required && (
        <button type="button" onClick={() => choose(undefined)} className="min-h-6 self-start text-sm text-muted underline">
          {t('clear')}
        </button>
      )}
    </FieldFrame>
  );
}

function fits(choice: Choice, typed: string): boolean {
  return choice.label.toLowerCase().includes(typed.trim().toLowerCase());
}
