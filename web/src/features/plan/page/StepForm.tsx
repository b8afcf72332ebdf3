import { type FormEvent, type KeyboardEvent, useRef, useState } from 'react';
import { Button } from '@/components/Button';
import { TextInput } from '@/components/form';
import { useText } from '@/i18n';
import type { PlanStep } from '../model';
import { useReview } from './review';
import { focusStep } from './focusStep';

const EMPTY: PlanStep = { step_number: 0, action: '', reason: '', tools_needed: [], files: [], status: 'pending' };
const linesOf = (text: string) => text.split('\n').map((line) => line.trim()).filter((line) => line !== '');

/** A step as fields. What others did to the plan meanwhile is said, and nothing that was typed is lost. */
export function StepForm({ step = EMPTY }: { step?: PlanStep }) {
  const t = useText('planPage');
  const common = useText('common');
  const { newest, edits, plan } = useReview();
  const [begun] = useState(newest.revision);
  const [problem, setProblem] = useState<string | null>(null);
  const form = useRef<HTMLFormElement>(null);
  const close = () => {
    edits.edit(null);
    if (step.step_number > 0) requestAnimationFrame(() => focusStep(step.step_number));
  };
  const submit = async (event?: FormEvent) => {
    event?.preventDefault();
    if (!form.current || edits.isSaving) return;
    const fields = new FormData(form.current);
    const field = (name: string) => String(fields.get(name) ?? '').trim();
    if (field('action') === '') return setProblem(t('needsAction'));
    setProblem(await edits.save(edited(step, field)));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'Escape') close();
    else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void submit();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <form ref={form} onSubmit={(event) => void submit(event)} onKeyDown={onKeyDown} aria-label={step.step_number > 0 ? t('edit') : t('addStep')} className="mt-2 flex flex-col gap-3">
      <Area name="action" label={t('action')} value={step.action} isFirst />
      <Area name="reason" label={t('reason')} value={step.reason} />
      <Area name="files" label={t('filesField')} value={step.files.join('\n')} isCode />
      <div className="plan-fields">
        <TextInput name="verify" label={t('check')} defaultValue={step.verify ?? ''} spellCheck={false} />
        <TextInput name="tools" label={t('tools')} defaultValue={step.tools_needed.join(', ')} spellCheck={false} />
        <TextInput name="time" label={t('time')} defaultValue={step.estimated_time ?? ''} />
      </div>
      {newest.revision !== begun && <p role="status" className="text-major">{t('changedMeanwhile', { revision: newest.revision })}</p>}
      {problem !== null && <p role="alert" className="text-critical">{problem}</p>}
      <div className="flex flex-wrap items-center gap-2">
        <span className="mr-auto text-xs text-muted">{t('makes', { revision: newest.revision + 1 })}</span>
        {step.step_number > 0 && plan.steps.length > 1 && <Button look="danger" onClick={() => void edits.removeEdited()}>{t('deleteStep')}</Button>}
        <Button onClick={close}>{common('cancel')}</Button>
        <Button type="submit" disabled={edits.isSaving} className="font-semibold">{edits.isSaving ? t('saving') : t('save')}</Button>
      </div>
    </form>
  );
}

function edited(step: PlanStep, field: (name: string) => string): PlanStep {
  const { estimated_time: _time, verify: _verify, ...rest } = step;
  const [time, verify] = [field('time'), field('verify')];
  return {
    ...rest,
    action: field('action'),
    reason: field('reason'),
    files: linesOf(field('files')),
    tools_needed: field('tools').split(/[,，、]/).map((tool) => tool.trim()).filter((tool) => tool !== ''),
    ...(time !== '' && { estimated_time: time }),
    ...(verify !== '' && { verify }),
  };
}

function Area({ name, label, value, isFirst = false, isCode = false }: { name: string; label: string; value: string; isFirst?: boolean; isCode?: boolean }) {
  return (
    <label className="flex flex-col gap-1 font-medium">
      {label}
      <textarea name={name} defaultValue={value} autoFocus={isFirst} rows={1} spellCheck={!isCode} className={`field-sizing-content max-h-60 min-h-9 w-full rounded-sm border border-control bg-bg px-2.5 py-1.5 font-normal ${isCode ? 'font-mono text-xs' : ''}`} />
    </label>
  );
}
