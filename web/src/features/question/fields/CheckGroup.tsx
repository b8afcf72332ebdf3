import { ChoiceCard } from './ChoiceCards';
import type { ControlProps, FieldOf } from './Control';
import { GroupFrame } from './frame';

/** Any of the choices. */
export function CheckGroup(props: ControlProps<FieldOf<'checks'>>) {
  const { field, draft, onEnter } = props;
  const entered = draft[field.pointer];
  const chosen = Array.isArray(entered) ? (entered as number[]) : [];
  const toggle = (place: number) => onEnter(field.pointer, chosen.includes(place) ? chosen.filter((other) => other !== place) : [...chosen, place]);
  return (
    <GroupFrame {...props} role="group">
      <div className="flex flex-wrap gap-2">
        {field.choices.map((choice, place) => (
          <ChoiceCard key={place} type="checkbox" choice={choice} checked={chosen.includes(place)} onChange={() => toggle(place)} />
        ))}
      </div>
    </GroupFrame>
  );
}
