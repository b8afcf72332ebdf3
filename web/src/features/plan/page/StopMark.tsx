import { CirclePause } from 'lucide-react';
import { Button } from '@/components/Button';
import { useText } from '@/i18n';
import { useReview } from './review';

/** Between two steps: the run stops here. */
export function StopMark({ step }: { step: number }) {
  const t = useText('planPage');
  const { draft, mayChoose } = useReview();
  return (
    <li data-stop={step} className="flex items-center gap-3 py-2 max-sm:px-4">
      <span aria-hidden className="plan-stop-line h-px shrink-0 bg-fg max-sm:hidden" />
      <CirclePause className="size-4 shrink-0" aria-hidden="true" />
      <span className="min-w-0">{t('stopsHere', { step })}</span>
      {mayChoose && <Button look="quiet" className="-my-1 px-2" onClick={() => draft.setStop(null)}>{t('remove')}</Button>}
      <span aria-hidden className="plan-stop-line h-px flex-1 bg-fg" />
    </li>
  );
}
