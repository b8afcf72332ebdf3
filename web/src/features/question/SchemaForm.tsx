import { useEffect, useId, useRef } from 'react';
import { useText } from '@/i18n';
import { Control } from './fields/Control';
import type { Part } from './answering';
import type { DraftValue } from './draft';
import { errorsByPointer } from './words';

interface Props {
  part: Part;
  /** The element that has the question's words. */
  labelledBy: string;
  /** Grows when an answer was refused; the first wrong field is then focused. */
  refusals: number;
  onEnter: (pointer: string, value: DraftValue | undefined) => void;
}

/** The form of one question. Loaded when the first question needs one. */
export default function SchemaForm({ part, labelledBy, refusals, onEnter }: Props) {
  const t = useText('question');
  const formId = useId();
  const form = useRef<HTMLDivElement>(null);
  const errors = errorsByPointer(t, part.complaints, part.fromServer);
  useEffect(() => {
    if (refusals === 0) return;
    const wrong = form.current?.querySelector<HTMLElement>('[aria-invalid="true"], [data-invalid="true"]');
    const field = wrong?.matches('[role="radiogroup"], [role="group"]') ? (wrong.querySelector<HTMLElement>('input:checked, input') ?? wrong) : wrong;
    field?.focus();
  }, [refusals]);
  return (
    <div ref={form}>
      <Control field={part.field} formId={formId} draft={part.draft} errors={errors} onEnter={onEnter} labelledBy={labelledBy} />
    </div>
  );
}
