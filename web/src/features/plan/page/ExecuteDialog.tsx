import { type FormEvent, useState } from 'react';
import { Button } from '@/components/Button';
import { Select, TextInput } from '@/components/form';
import { Modal } from '@/components/Modal';
import { useText } from '@/i18n';
import { useReview } from './review';
import { choiceOf, rangesOf, type RunChoice, stepsIn } from './run';

interface Props {
  isOpen: boolean;
  close: () => void;
  start: (order: { choice: RunChoice; comment: string }) => void;
}

/** Which steps run, where they stop, and what the Actor is told. Begins with what was chosen on the page. */
export function ExecuteDialog({ isOpen, close, start }: Props) {
  const t = useText('planPage');
  const { plan, choice, draft } = useReview();
  const [text, setText] = useState(rangesOf(choice.steps));
  const [stop, setStop] = useState(choice.stopAfter === null ? '' : String(choice.stopAfter));
  const [comment, setComment] = useState('');
  const total = plan.steps.length;
  const steps = stepsIn(text, total);
  const open = choiceOf(plan.steps, new Set(), null).steps;
  const chosen = steps?.filter((step) => open.includes(step)) ?? [];
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (chosen.length === 0) return;
    const left = plan.steps.map((step) => step.step_number).filter((step) => !chosen.includes(step));
    draft.setSkipped(left.filter((step) => open.includes(step)));
    draft.setStop(stop === '' ? null : Number(stop));
    start({ choice: choiceOf(plan.steps, new Set(left), stop === '' ? null : Number(stop)), comment: comment.trim() });
  };
  return (
    <Modal isOpen={isOpen} close={close} title={t('optionsTitle')}>
      <form onSubmit={submit} className="flex flex-col gap-4">
        <TextInput label={t('whichSteps')} value={text} onChange={(event) => setText(event.target.value)} hint={t('whichHint', { all: rangesOf(open) })} error={steps === null ? t('whichWrong', { total }) : chosen.length === 0 ? t('noSteps') : null} inputMode="text" />
        <Select label={t('stopLabel')} value={stop} choose={setStop} options={[['', t('stopNever')], ...chosen.slice(0, -1).map((step): [string, string] => [String(step), t('stopAt', { step })])]} />
        <label className="flex flex-col gap-1 font-medium">
          {t('runComment')}
          <textarea value={comment} onChange={(event) => setComment(event.target.value)} rows={2} className="field-sizing-content max-h-40 min-h-14 w-full rounded-sm border border-control bg-bg px-2.5 py-1.5 font-normal" />
        </label>
        <Button type="submit" look="primary" disabled={chosen.length === 0} className="self-end">{chosen.length === total ? t('executePlan') : chosen.length === 1 ? t('executeOne', { step: chosen[0] ?? 1 }) : t('executeSeveral', { count: chosen.length })}</Button>
      </form>
    </Modal>
  );
}
