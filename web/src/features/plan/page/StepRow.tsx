import { ChevronDown, GripVertical, Hand, TriangleAlert } from 'lucide-react';
import { memo, useRef } from 'react';
import { Markdown } from '@/components/markdown/Markdown';
import { useLocale, useText } from '@/i18n';
import { shownText } from '@/lib/marks';
import { spoken } from '@/lib/time';
import { StepMark } from '../StepList';
import type { PlanStep } from '../model';
import { type PlanReview, useReview } from './review';
import { useMarked } from './selection';
import { StepBar } from './StepBar';
import { StepBody } from './StepBody';
import { StepForm } from './StepForm';
import { useDragging } from './useDragging';
import { useNear } from './useNear';

/** One step. Far from the window it is its words alone; on a phone and in the outline, unless it is the one that is read. */
export function StepRow({ step }: { step: PlanStep }) {
  const review = useReview();
  const row = useRef<HTMLLIElement>(null);
  const { current, edits, draft, isOutline, isPhone } = review;
  const number = step.step_number;
  const isCurrent = current === number;
  const isEdited = edits.editing !== null && 'step' in edits.editing && edits.editing.step === number;
  const drafts = draft.ofStep(number);
  const isNear = useNear(row);
  const isOpen = isEdited || drafts.some((one) => one.isOpen) || (isPhone || isOutline ? isCurrent : isNear);
  const isOff = draft.skippedSteps.has(number) || review.excluded.has(number);
  const isFar = !isOpen && !isNear && !isCurrent && !isPhone;
  return (
    <li
      ref={row}
      id={`step-${number}`}
      data-step={number}
      data-status={step.status}
      tabIndex={isCurrent ? 0 : -1}
      onFocus={() => !isPhone && review.setCurrent(number)}
      onPointerMove={(event) => !isPhone && event.pointerType === 'mouse' && (event.movementX !== 0 || event.movementY !== 0) && !document.activeElement?.closest('textarea, input') && review.setCurrent(number)}
      data-far={isFar && !isOutline ? true : undefined}
      className={`plan-step group relative border-t first:border-t-0 ${isCurrent ? 'bg-surface' : ''}`}
    >
      {isFar ? <h3 className="truncate py-1.5">{number} {step.action}</h3> : <div data-off={isOff || undefined} className={`flex gap-2 ${isPhone && !isOpen ? 'items-center' : ''} ${isPhone ? 'px-4 py-1' : isOutline && !isOpen ? 'py-1.5' : 'py-3'}`}>
        <StepNumber step={step} isCurrent={isCurrent} />
        <div className="min-w-0 flex-1">
          <StepHead step={step} review={review} isOpen={isOpen} isCurrent={isCurrent} quotes={drafts.map((one) => one.quote).filter((quote) => quote !== '').join('\n')} />
          {isOpen && (isEdited ? <StepForm key={number} step={step} /> : <StepBody step={step} drafts={drafts} />)}
        </div>
      </div>}
      {isCurrent && !isEdited && <StepBar step={number} />}
    </li>
  );
}

/** What it is dragged by, and its number or what became of it. */
function StepNumber({ step, isCurrent }: { step: PlanStep; isCurrent: boolean }) {
  const t = useText('planPage');
  const { mayEdit, isPhone } = useReview();
  const drag = useDragging(step.step_number);
  return (
    <span className="flex shrink-0 items-start">
      {mayEdit && !isPhone && (
        <span {...drag} title={t('drag', { step: step.step_number })} className={`plan-grip flex touch-none items-center text-muted ${isCurrent ? '' : 'invisible'}`}>
          {isCurrent && <GripVertical className="size-3.5" aria-hidden="true" />}
        </span>
      )}
      <span className="plan-number flex justify-center text-base"><StepMark status={step.status} number={step.step_number} /></span>
    </span>
  );
}

interface HeadProps {
  step: PlanStep;
  review: PlanReview;
  isOpen: boolean;
  isCurrent: boolean;
  quotes: string;
}

function StepHead({ step, review, isOpen, isCurrent, quotes }: HeadProps) {
  const t = useText('planPage');
  const locale = useLocale((state) => state.locale);
  const words = useRef<HTMLDivElement>(null);
  useMarked(words, quotes);
  const { isPhone, findings } = review;
  const isOff = review.draft.skippedSteps.has(step.step_number) || review.excluded.has(step.step_number);
  const isGrave = findings.some((finding) => finding.step === step.step_number);
  const look = step.status === 'skipped' || isOff ? 'line-through' : '';
  const title = <div role="heading" aria-level={3} className={`min-w-0 flex-1 text-base break-words ${isPhone && !isOpen ? 'font-normal' : 'font-semibold'} ${look}`} data-folded={isOpen ? undefined : true}><Title text={step.action} /></div>;
  return (
    <div ref={words} data-words>
      <div className={`flex gap-x-4 ${isPhone ? 'min-h-11 items-center' : 'flex-wrap items-start'}`}>
        {isPhone ? <button type="button" aria-expanded={isOpen} onClick={() => review.setCurrent(isCurrent ? 0 : step.step_number)} className="flex min-w-0 flex-1 items-center gap-2 text-left">{title}<ChevronDown className={`size-4 shrink-0 text-muted ${isOpen ? 'plan-turned' : ''}`} aria-hidden="true" /></button> : title}
        <div className="ml-auto flex shrink-0 items-center gap-4 leading-[22px] text-muted">
          {isOff && <span className="text-xs">{t('skipped')}</span>}
          {isPhone && isGrave && <TriangleAlert className="size-4 text-major" aria-label={t('findings')} />}
          {!isPhone && step.tools_needed.length > 0 && <code className="max-w-60 truncate text-[11.5px]">{shownText(step.tools_needed.join(', '))}</code>}
          {!isPhone && step.tools_needed.includes('rm') && <span className="flex items-center gap-1 text-fg2"><Hand className="size-3.5" aria-hidden="true" />{t('asksDelete')}</span>}
          {step.estimated_time !== undefined && <span className="plan-time max-w-24 truncate">{spoken(locale, step.estimated_time)}</span>}
        </div>
      </div>
      {isOpen && step.reason !== '' && <div className="text-fg2"><Reason text={step.reason} /></div>}
    </div>
  );
}

const Title = memo(function Title({ text }: { text: string }) {
  return <Markdown text={text} />;
});

const Reason = memo(function Reason({ text }: { text: string }) {
  return <Markdown text={text} />;
});
