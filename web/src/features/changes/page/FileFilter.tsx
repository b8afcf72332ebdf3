import { ListFilter } from 'lucide-react';
import type { RefObject } from 'react';
import { ChipSelect } from '@/components/ChipSelect';
import { useText } from '@/i18n';
import { cut } from '@/lib/cut';
import { shownText } from '@/lib/marks';
import { OUTSIDE, type Cause, type Filter } from './model';

interface Props {
  field: RefObject<HTMLInputElement | null>;
  filter: Filter;
  change: (filter: Partial<Filter>) => void;
  steps: number[];
  causes: Cause[];
}

/** Narrows the files down: by name, by step of the plan, by message. */
export function FileFilter({ field, filter, change, steps, causes }: Props) {
  const t = useText('changesPage');
  const hasSteps = steps.some((step) => step > 0);
  return (
    <div className="review-filter">
      <div className="relative">
        <ListFilter size={14} aria-hidden className="absolute top-2 left-2.5 text-fg2 pointer-coarse:top-4" />
        <input ref={field} type="search" value={filter.name} onChange={(event) => change({ name: event.target.value })} onKeyDown={(event) => event.key === 'Escape' && event.currentTarget.blur()} placeholder={t('filter')} aria-label={t('filter')} className="h-7.5 w-full rounded-sm border border-control bg-bg pl-8 placeholder:text-fg2 pointer-coarse:h-11" />
        {filter.name === '' && <kbd aria-hidden className="pointer-events-none absolute top-1.5 right-1.5 pointer-coarse:hidden">/</kbd>}
      </div>
      {hasSteps && (
        <div role="group" aria-label={t('planStep')}>
          <p aria-hidden className="mb-1 text-xs text-fg2">{t('planStep')}</p>
          <div className="review-steps">
            <button type="button" aria-pressed={filter.step === null} onClick={() => change({ step: null })}>{t('all')}</button>
            {steps.map((step) => <button key={step} type="button" aria-pressed={filter.step === step} aria-label={step > 0 ? t('step', { step }) : undefined} onClick={() => change({ step: filter.step === step ? null : step })}>{step > 0 ? step : t(step === OUTSIDE ? 'outside' : 'noStep')}</button>)}
          </div>
        </div>
      )}
      {causes.length > 1 && (
        <ChipSelect label={t('message')} value={filter.message ?? ''} options={[['', t('allMessages')], ...causes.map((cause) => [cause.id, shownText(cut(cause.words.replaceAll(/\s+/g, ' '), 80))] as const)]} choose={(message) => change({ message: message || null })} className="-mx-2" />
      )}
    </div>
  );
}
