import { CircleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { useText } from '@/i18n';
import type { Field } from '../field';

interface Wiring {
  field: Field;
  formId: string;
  errors: Record<string, string>;
  labelledBy?: string;
}

/** The ids and attributes by which a control belongs to its label, its description and its error. */
export function wired({ field, formId, errors, labelledBy }: Wiring) {
  const id = `${formId}${field.pointer}`;
  const error = errors[field.pointer];
  const described = [field.description === undefined ? '' : `${id}-description`, error === undefined ? '' : `${id}-error`].filter(Boolean).join(' ');
  return {
    id,
    error,
    name: field.label === undefined && labelledBy !== undefined ? { 'aria-labelledby': labelledBy } : {},
    state: {
      'aria-invalid': error !== undefined,
      ...(described !== '' && { 'aria-describedby': described }),
      ...(field.required && { 'aria-required': true }),
    },
  };
}

/** Label above, then the description, the control, and what is wrong with it. */
export function FieldFrame({ children, ...wiring }: Wiring & { children: ReactNode }) {
  const { field } = wiring;
  const { id } = wired(wiring);
  return (
    <div className="flex min-w-0 flex-col gap-1">
      {field.label !== undefined && (
        <label htmlFor={id} className="font-medium">
          <LabelText field={field} />
        </label>
      )}
      <Description {...wiring} />
      {children}
      <ErrorText {...wiring} />
    </div>
  );
}

/** The same for a control of several parts, which a label can't name. */
export function GroupFrame({ children, role, ...wiring }: Wiring & { children: ReactNode; role: 'group' | 'radiogroup' }) {
  const { field } = wiring;
  const { id, state, name } = wired(wiring);
  const { 'aria-required': required, ...rest } = { 'aria-required': undefined, ...state };
  const own = field.label === undefined ? name : { 'aria-labelledby': `${id}-label` };
  return (
    <div id={id} role={role} tabIndex={-1} {...own} {...(role === 'radiogroup' ? { ...rest, 'aria-required': required } : groupState(rest))} className="flex min-w-0 flex-col gap-1 rounded-sm">
      {field.label !== undefined && (
        <span id={`${id}-label`} className="font-medium">
          <LabelText field={field} />
        </span>
      )}
      <Description {...wiring} />
      {children}
      <ErrorText {...wiring} />
    </div>
  );
}

/** A plain group can't be invalid for assistive technology; the mark is for the page, which focuses the first one. */
function groupState({ 'aria-invalid': invalid, ...rest }: { 'aria-invalid': boolean; 'aria-describedby'?: string }) {
  return { ...rest, 'data-invalid': invalid };
}

function LabelText({ field }: { field: Field }) {
  const t = useText('question');
  const common = useText('common');
  return (
    <>
      {field.label}
      {field.required ? (
        <span className="text-critical" aria-hidden="true">
          {' *'}
        </span>
      ) : (
        <span className="font-normal text-muted">{common('aside', { text: t('optional') })}</span>
      )}
    </>
  );
}

function Description(wiring: Wiring) {
  const { field } = wiring;
  if (field.description === undefined) return null;
  return (
    <p id={`${wired(wiring).id}-description`} className="text-sm text-muted">
      {field.description}
    </p>
  );
}

export function ErrorText(wiring: Wiring) {
  const { id, error } = wired(wiring);
  if (error === undefined) return null;
  return (
    <p id={`${id}-error`} className="flex items-start gap-1 text-sm text-critical">
      <CircleAlert className="mt-0.5 size-3.5 shrink-0" aria-hidden="true" />
      <span className="min-w-0 break-words">{error}</span>
    </p>
  );
}

export const inputClass =
  'w-full min-w-0 scroll-mt-14 rounded-sm border border-control bg-bg px-2.5 py-1.5 text-fg placeholder:text-muted aria-invalid:border-critical aria-invalid:ring-1 aria-invalid:ring-critical pointer-coarse:min-h-11';
