import { useText } from '@/i18n';
import type { Choice } from '../field';
import type { ControlProps, FieldOf } from './Control';
import { GroupFrame, wired } from './frame';

/** One of a few choices, each a card with its radio button. */
export function ChoiceCards(props: ControlProps<FieldOf<'cards'>>) {
  const t = useText('question');
  const { field, draft, onEnter } = props;
  const { id } = wired(props);
  const entered = draft[field.pointer];
  const chosen = Array.isArray(entered) ? entered[0] : undefined;
  return (
    <GroupFrame {...props} role="radiogroup">
      <div className="flex flex-wrap items-center gap-2">
        {field.choices.map((choice, place) => (
          <ChoiceCard key={place} type="radio" name={id} choice={choice} checked={chosen === place} onChange={() => onEnter(field.pointer, [place])} />
        ))}
        {chosen !== undefined && !field.required && (
          <button type="button" onClick={() => onEnter(field.pointer, undefined)} className="min-h-6 px-1 text-sm text-muted underline">
            {t('clear')}
          </button>
        )}
      </div>
    </GroupFrame>
  );
}

interface CardProps {
  type: 'radio' | 'checkbox';
  name?: string;
  choice: Choice;
  checked: boolean;
  onChange: () => void;
}

export function ChoiceCard({ type, name, choice, checked, onChange }: CardProps) {
  const t = useText('question');
  const words = { true: t('yes'), false: t('no') };
  const label = typeof choice.value === 'boolean' ? words[`${choice.value}`] : choice.label;
  return (
    <label
      className={`flex min-h-8 cursor-pointer items-start gap-2 rounded-sm border bg-bg px-3 py-1.5 pointer-coarse:min-h-11 pointer-coarse:py-2.5 has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-fg ${checked ? 'border-fg ring-1 ring-fg' : 'border-control'}`}
    >
      <input type={type} name={name} checked={checked} onChange={onChange} className="mt-1 size-3.5 shrink-0 outline-none" />
      <span className="min-w-0">
        <span className="break-words">{label}</span>
        {choice.description !== undefined && <span className="block text-sm text-muted">{choice.description}</span>}
      </span>
    </label>
  );
}
