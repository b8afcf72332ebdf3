import { useLocale, useText } from '@/i18n';
import type { Adherence, AuditCount } from '@/lib/api/types';
import { count, percent } from '@/lib/number';
import { isSwitch, isViolation, sum } from './series';

/** The whole in four numbers. */
export function Tiles({ counts, adherence }: { counts: AuditCount[]; adherence: Adherence[] }) {
  const t = useText('audit');
  const locale = useLocale((state) => state.locale);
  const calls = adherence.reduce((total, row) => total + row.calls, 0);
  const blocked = adherence.reduce((total, row) => total + row.blocked, 0);
  const tiles: [string, string, string][] = [
    [t('violations'), count(locale, sum(counts, isViolation)), t('ofCalls', { count: count(locale, calls) })],
    [t('adherence'), calls === 0 ? '–' : percent(locale, Math.max(0, 1 - blocked / calls), 1), t('adherenceHint')],
    [t('questions'), count(locale, sum(counts, (one) => one.kind === 'question_asked')), t('approvalsToo', { count: count(locale, sum(counts, (one) => one.kind === 'approval_requested')) })],
    [t('switches'), count(locale, sum(counts, isSwitch)), t('plansToo', { count: count(locale, sum(counts, (one) => one.kind === 'plan_approved')) })],
  ];
  return (
    <dl className="grid grid-cols-2 gap-x-6 gap-y-4 border-t pt-4 lg:grid-cols-4">
      {tiles.map(([name, value, hint]) => (
        <div key={name} className="flex flex-col">
          <dt className="text-sm text-muted">{name}</dt>
          <dd className="text-xl font-semibold">{value}</dd>
          <dd className="text-xs text-muted">{hint}</dd>
        </div>
      ))}
    </dl>
  );
}
