import { CheckCircle2, Circle, CircleDashed, Clock, LoaderCircle, type LucideIcon, MessageSquarePlus, SkipForward, SquareTerminal } from 'lucide-react';
import { useState } from 'react';
import { IconButton } from '@/components/IconButton';
import { Words } from '@/components/Words';
import { useLocale, useText } from '@/i18n';
import type { StepStatus } from '@/lib/api/types';
import { spoken } from '@/lib/time';
import { StepComment } from './StepComment';
import type { PlanStep } from './model';
import type { useFeedback } from './useFeedback';

interface Props {
  steps: PlanStep[];
  /** Without it, the steps can't be commented on. */
  feedback?: ReturnType<typeof useFeedback>;
}

/** The steps, each with its reason, files, tools, time and check, and where it stands. */
export function StepList({ steps, feedback }: Props) {
  const t = useText('plan');
  return (
    <ol aria-label={t('steps')} className="divide-y">
      {steps.map((step) => (
        <Step key={step.step_number} step={step} {...(feedback !== undefined && { feedback })} />
      ))}
    </ol>
  );
}

const MARKS: Record<StepStatus, { Icon: LucideIcon; look: string }> = {
  pending: { Icon: Circle, look: 'text-control' },
  in_progress: { Icon: LoaderCircle, look: 'text-act motion-safe:animate-spin' },
  done: { Icon: CheckCircle2, look: 'text-act' },
  skipped: { Icon: SkipForward, look: 'text-muted' },
};

export function StepMark({ status }: { status: StepStatus }) {
  const t = useText('plan');
  const { Icon, look } = MARKS[status] ?? { Icon: CircleDashed, look: 'text-muted' };
  const words = { pending: t('stepOpen'), in_progress: t('stepRunning'), done: t('stepDone'), skipped: t('stepSkipped') };
  return (
    <span className="mt-0.5 shrink-0" title={words[status]}>
      <Icon className={`size-4 ${look}`} aria-hidden="true" />
      <span className="sr-only">{words[status]}</span>
    </span>
  );
}

function Step({ step, feedback }: { step: PlanStep; feedback?: ReturnType<typeof useFeedback> }) {
  const t = useText('plan');
  const remark = feedback?.feedback.steps[step.step_number] ?? '';
  const [open, setOpen] = useState(remark !== '');
  const over = step.status === 'done' || step.status === 'skipped';
  return (
    <li data-step={step.step_number} data-status={step.status} className="group flex gap-2.5 px-4 py-2.5">
      <StepMark status={step.status} />
      <div className="min-w-0 flex-1">
        <p className={`break-words ${over ? 'text-muted' : ''} ${step.status === 'skipped' ? 'line-through' : ''} ${step.status === 'in_progress' ? 'font-semibold' : ''}`}>
          {step.step_number}. <Words text={step.action} />
        </p>
        {step.reason !== '' && <p className="text-sm break-words text-muted"><Words text={step.reason} /></p>}
        <StepFacts step={step} />
        {feedback !== undefined && open && <StepComment step={step.step_number} feedback={feedback} close={() => setOpen(false)} />}
      </div>
      {feedback !== undefined && (
        <IconButton label={t('comment', { step: step.step_number })} onClick={() => setOpen(true)} className="-my-1">
          <MessageSquarePlus className={`size-4 ${remark === '' ? '' : 'text-plan'}`} aria-hidden="true" />
        </IconButton>
      )}
    </li>
  );
}

function StepFacts({ step }: { step: PlanStep }) {
  const t = useText('plan');
  const locale = useLocale((state) => state.locale);
  const chip = 'max-w-full rounded-sm bg-surface px-1.5 py-px text-xs break-all';
  return (
    <div className="mt-1 flex flex-wrap items-center gap-1.5 text-xs text-muted empty:hidden">
      {step.files.map((file) => (
        <code key={`file ${file}`} title={t('files')} className={`${chip} text-fg`}>
          {file}
        </code>
      ))}
      {step.tools_needed.map((tool) => (
        <code key={`tool ${tool}`} title={t('tools')} className={chip}>
          {tool}
        </code>
      ))}
      {step.estimated_time !== undefined && (
        <span className="inline-flex items-center gap-1">
          <Clock className="size-3" aria-hidden="true" />
          {spoken(locale, step.estimated_time)}
        </span>
      )}
      {step.verify !== undefined && (
        <span className="inline-flex max-w-full min-w-0 items-center gap-1" title={t('verify')}>
          <SquareTerminal className="size-3 shrink-0" aria-hidden="true" />
          <span className="sr-only">{t('verify')}: </span>
          <code className="min-w-0 text-xs break-all">{step.verify}</code>
        </span>
      )}
    </div>
  );
}
