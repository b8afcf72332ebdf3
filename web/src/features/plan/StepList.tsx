import { Check, LoaderCircle, type LucideIcon, MessageSquarePlus, SkipForward, SquareTerminal } from 'lucide-react';
import { useState } from 'react';
import { FileLink } from '@/components/FileLink';
import { IconButton } from '@/components/IconButton';
import { Words } from '@/components/Words';
import { useLocale, useText } from '@/i18n';
import type { StepStatus } from '@/lib/api/types';
import { spoken } from '@/lib/time';
import { shownName } from '@/lib/marks';
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
    <ol aria-label={t('steps')} className="py-1.5">
      {steps.map((step) => (
        <Step key={step.step_number} step={step} {...(feedback !== undefined && { feedback })} />
      ))}
    </ol>
  );
}

const MARKS: Record<Exclude<StepStatus, 'pending'>, { Icon: LucideIcon; look: string }> = {
  in_progress: { Icon: LoaderCircle, look: 'text-act motion-safe:animate-spin' },
  done: { Icon: Check, look: 'text-fg2' },
  skipped: { Icon: SkipForward, look: 'text-muted' },
};

/** The number of a step that is still to do; what became of it afterwards. */
export function StepMark({ status, number }: { status: StepStatus; number?: number }) {
  const t = useText('plan');
  const words = { pending: t('stepOpen'), in_progress: t('stepRunning'), done: t('stepDone'), skipped: t('stepSkipped') };
  const mark = status === 'pending' ? undefined : MARKS[status];
  return (
    <span className="flex h-5.5 w-4.5 shrink-0 items-center justify-center text-muted" title={words[status]}>
      {mark ? <mark.Icon className={`size-3.5 ${mark.look}`} aria-hidden="true" /> : number}
      <span className="sr-only">{words[status]}</span>
    </span>
  );
}

function Step({ step, feedback }: { step: PlanStep; feedback?: ReturnType<typeof useFeedback> }) {
  const t = useText('plan');
  const locale = useLocale((state) => state.locale);
  const remark = feedback?.remarkOn(step.step_number) ?? '';
  const [open, setOpen] = useState(remark !== '');
  const over = step.status === 'done' || step.status === 'skipped';
  return (
    <li data-step={step.step_number} data-status={step.status} className="group flex gap-2.5 px-4 py-1">
      <StepMark status={step.status} number={step.step_number} />
      <div className="min-w-0 flex-1">
        <p className={`text-base break-words ${over ? 'text-muted' : ''} ${step.status === 'skipped' ? 'line-through' : ''} ${step.status === 'in_progress' ? 'font-semibold' : ''}`}>
          <Words text={step.action} />
        </p>
        {step.reason !== '' && <p className="break-words text-muted"><Words text={step.reason} /></p>}
        <StepFacts step={step} />
        {feedback !== undefined && open && <StepComment step={step.step_number} feedback={feedback} close={() => setOpen(false)} />}
      </div>
      {step.estimated_time !== undefined && <span className="max-w-24 shrink-0 truncate leading-[22px] text-muted" title={step.estimated_time}>{spoken(locale, step.estimated_time)}</span>}
      {feedback !== undefined && (
        <IconButton label={t('comment', { step: step.step_number })} onClick={() => setOpen(true)} className="-my-1">
          <MessageSquarePlus className={`size-4 ${remark === '' ? '' : 'fill-line2 text-fg'}`} aria-hidden="true" />
        </IconButton>
      )}
    </li>
  );
}

function StepFacts({ step }: { step: PlanStep }) {
  const t = useText('plan');
  const common = useText('common');
  return (
    <div className="flex flex-wrap items-center gap-x-3 text-xs text-muted empty:hidden">
      {step.files.map((file) => (
        <code key={`file ${file}`} title={t('files')} className="max-w-full text-[11.5px] wrap-anywhere text-fg2">
          {/[*?{[]/.test(file) ? shownName(file) : <FileLink place={{ path: file, line: null }}>{shownName(file)}</FileLink>}
        </code>
      ))}
      {step.tools_needed.map((tool) => (
        <code key={`tool ${tool}`} title={t('tools')} className="max-w-full text-[11.5px] break-all">
          {tool}
        </code>
      ))}
      {step.verify !== undefined && (
        <span className="inline-flex max-w-full min-w-0 items-center gap-1" title={t('verify')}>
          <SquareTerminal className="size-3 shrink-0" aria-hidden="true" />
          <span className="sr-only">{t('verify')}{common('colon')}</span>
          <code className="min-w-0 text-[11.5px] break-all">{shownName(step.verify)}</code>
        </span>
      )}
    </div>
  );
}
