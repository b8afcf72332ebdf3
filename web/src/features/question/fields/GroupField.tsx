import { Control, type ControlProps, type FieldOf } from './Control';
import { GroupFrame } from './frame';

/** The fields of an object, side by side where there is room. */
export function GroupField(props: ControlProps<FieldOf<'group'>>) {
  const { field, labelledBy: _root, ...rest } = props;
  const fields = (
    <div className="grid grid-cols-1 gap-x-4 gap-y-3 sm:grid-cols-2">
      {field.fields.map((part) => (
        <div key={part.pointer} className={WIDE.has(part.kind) ? 'min-w-0 sm:col-span-2' : 'min-w-0'}>
          <Control {...rest} field={part} />
        </div>
      ))}
    </div>
  );
  if (field.pointer === '') return <GroupFrame {...props} role="group">{fields}</GroupFrame>;
  return (
    <div className="rounded-md border p-3">
      <GroupFrame {...props} role="group">
        {fields}
      </GroupFrame>
    </div>
  );
}

/** Kinds that a half column would squeeze. */
const WIDE = new Set<string>(['area', 'json', 'group', 'tags']);
