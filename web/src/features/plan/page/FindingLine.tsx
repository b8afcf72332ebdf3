import { CircleX, TriangleAlert } from 'lucide-react';
import { Button } from '@/components/Button';
import { Words } from '@/components/Words';
import { useText } from '@/i18n';
import { shownText } from '@/lib/marks';
import type { StepFinding } from './findings';
import { useReview } from './review';

export function FindingIcon({ finding }: { finding: StepFinding }) {
  const t = useText('plan');
  const isError = finding.gravity === 'error';
  const Icon = isError ? CircleX : TriangleAlert;
  return <Icon className={`mt-0.75 size-3.5 shrink-0 ${isError ? 'text-critical' : 'text-major'}`} aria-label={isError ? t('error') : t('warning')} />;
}

/** What the linter says about a step, and what can be done about it. */
export function FindingLine({ finding }: { finding: StepFinding }) {
  const t = useText('planPage');
  const common = useText('common');
  const { draft, mayComment } = useReview();
  const ask = () => draft.open(finding.step ?? 1, '', t('fixThis', { message: finding.message }));
  return (
    <div className="mt-1 flex flex-wrap items-start gap-x-2">
      <FindingIcon finding={finding} />
      <p className="plan-finding min-w-0 flex-1 break-words"><span className="font-semibold">{t('linter')}{common('colon')}</span><Words text={shownText(finding.message)} /></p>
      {mayComment && (
        <span className="flex shrink-0">
          <Button look="quiet" className="-my-1 px-2" onClick={ask}>{t('askToFix')}</Button>
          <Button look="quiet" className="-my-1 px-2" onClick={() => draft.dismiss(finding.key)}>{t('dismiss')}</Button>
        </span>
      )}
    </div>
  );
}
