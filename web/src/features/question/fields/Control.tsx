import type { ComponentType } from 'react';
import type { Draft, DraftValue } from '../draft';
import type { Field } from '../field';
import { CheckGroup } from './CheckGroup';
import { ChoiceCards } from './ChoiceCards';
import { ChoiceList } from './ChoiceList';
import { GroupField } from './GroupField';
import { JsonField } from './JsonField';
import { NumberField } from './NumberField';
import { SwitchField } from './SwitchField';
import { TagInput } from './TagInput';
import { TextField } from './TextField';

export type FieldOf<K extends Field['kind']> = Extract<Field, { kind: K }>;

export interface ControlProps<F extends Field = Field> {
  field: F;
  /** Makes the ids of one form differ from those of another. */
  formId: string;
  draft: Draft;
  /** What is wrong, by pointer. */
  errors: Record<string, string>;
  onEnter: (pointer: string, value: DraftValue | undefined) => void;
  /** What names the field, where it has no label of its own: the question's text. */
  labelledBy?: string;
}

const CONTROLS: { [K in Field['kind']]: ComponentType<ControlProps<FieldOf<K>>> } = {
  switch: SwitchField,
  cards: ChoiceCards,
  list: ChoiceList,
  checks: CheckGroup,
  tags: TagInput,
  line: TextField,
  area: TextField,
  number: NumberField,
  group: GroupField,
  json: JsonField,
};

export function Control(props: ControlProps) {
  const Kind = CONTROLS[props.field.kind] as ComponentType<ControlProps>;
  return <Kind {...props} />;
}
