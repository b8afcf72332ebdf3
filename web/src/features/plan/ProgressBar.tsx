import { useText } from '@/i18n';
import type { Plan } from './model';

/** One piece for each step: done, under way, still to do. */
export function ProgressBar({ plan }: { plan: Plan }) {
  const t = useText('plan');
  const over = plan.steps.filter((step) => step.status === 'done' || step.status === 'skipped').length;
  const looks = { pending: 'bg-line2', in_progress: 'bg-act/50', done: 'bg-act', skipped: 'bg-control' };
  return (
    <div role="progressbar" aria-label={t('progress')} aria-valuemin={0} aria-valuemax={plan.steps.length} aria-valuenow={over} className={`flex overflow-hidden ${plan.steps.length > 30 ? '' : 'gap-0.5'}`}>
      {plan.steps.map((step) => (
        <span key={step.step_number} className={`h-1 min-w-0 flex-1 ${plan.steps.length > 30 ? '' : 'rounded-full'} ${looks[step.status]}`} />
      ))}
    </div>
  );
}
