import { Words } from '@/components/Words';
import { useLocale, useText } from '@/i18n';
import { spoken } from '@/lib/time';
import type { Plan, Revision } from './model';

/** A version's goal, number, size and time. */
export function PlanHead({ revision, plan, isOlder = false }: { revision: Revision; plan: Plan; isOlder?: boolean }) {
  const t = useText('plan');
  const locale = useLocale((state) => state.locale);
  const files = new Set(plan.steps.flatMap((step) => step.files)).size;
  const facts = [
    t('planSteps', { count: plan.steps.length }),
    files > 0 ? t('planFiles', { count: files }) : '',
    plan.estimated_total_time === undefined ? '' : t('about', { time: spoken(locale, plan.estimated_total_time) }),
    revision.isEdited ? t('edited') : '',
    isOlder ? t('older') : '',
  ].filter((fact) => fact !== '');
  return (
    <div className="min-w-0 flex-1">
      <h2 className="text-base font-semibold break-words"><Words text={plan.goal} /></h2>
      <p className="text-xs break-words text-muted"><span className="font-medium text-fg2">{t('version', { revision: revision.revision })}</span>{t('comma')}{facts.join(t('comma'))}</p>
    </div>
  );
}
