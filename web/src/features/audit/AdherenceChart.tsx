import { useId } from 'react';
import { RoleLabel } from '@/components/RoleLabel';
import { useLocale, useText } from '@/i18n';
import type { Adherence } from '@/lib/api/types';
import { count, percent } from '@/lib/number';

/** How well each model kept to its role: a table whose shares are also bars. */
export function AdherenceChart({ rows }: { rows: Adherence[] }) {
  const t = useText('audit');
  const id = useId();
  if (rows.length === 0) return null;
  return (
    <section aria-labelledby={id} className="border-t">
      <div className="pt-4 pb-2">
        <h2 id={id} className="font-semibold">{t('adherenceTitle')}</h2>
        <p className="text-sm text-muted">{t('adherenceLong')}</p>
      </div>
      <div tabIndex={0} role="group" aria-label={t('adherenceTitle')} className="overflow-x-auto">
        <table className="w-full text-sm tabular-nums">
          <thead className="text-left text-muted">
            <tr>
              {[t('model'), t('role'), t('adherence')].map((name) => <th key={name} scope="col" className="py-1.5 pr-4 font-medium">{name}</th>)}
              {[t('calls'), t('blocked'), t('inPlanning'), t('questions'), t('deviations')].map((name) => <th key={name} scope="col" className="px-4 py-1.5 text-right font-medium whitespace-nowrap">{name}</th>)}
            </tr>
          </thead>
          <tbody>{rows.map((row) => <Row key={`${row.model} ${row.agent_role}`} row={row} />)}</tbody>
        </table>
      </div>
    </section>
  );
}

function Row({ row }: { row: Adherence }) {
  const locale = useLocale((state) => state.locale);
  // A few in a hundred is what a well-behaved model needs to find its way.
  const colour = row.adherence >= 0.95 ? 'bg-act' : row.adherence >= 0.8 ? 'bg-major' : 'bg-critical';
  return (
    <tr className="border-t">
      <th scope="row" className="max-w-64 truncate py-1.5 pr-4 text-left font-mono font-normal">{row.model}</th>
      <td className="pr-4"><RoleLabel role={row.agent_role} /></td>
      <td className="min-w-44 pr-4">
        <span className="flex items-center gap-2">
          <span aria-hidden className="h-1.5 min-w-16 flex-1 overflow-hidden rounded-full bg-sunken"><span className={`block h-full ${colour}`} style={{ width: `${row.adherence * 100}%` }} /></span>
          <span className="w-14 text-right">{percent(locale, row.adherence, 1)}</span>
        </span>
      </td>
      {[row.calls, row.blocked, row.disallowed_in_planning, row.questions, row.deviations].map((value, place) => <td key={place} className="px-4 text-right">{count(locale, value)}</td>)}
    </tr>
  );
}
