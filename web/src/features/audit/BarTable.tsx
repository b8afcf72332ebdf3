import { useLocale, useText } from '@/i18n';
import { count } from '@/lib/number';
import type { Span } from './series';
import { spanName, type Shown } from './StackedBars';

/** The numbers of a chart, newest first; days without any are left out. */
export function BarTable({ title, spans, series }: { title: string; spans: Span[]; series: Shown[] }) {
  const t = useText('audit');
  const locale = useLocale((state) => state.locale);
  const rows = spans.map((span, place) => ({ span, place })).filter(({ place }) => series.some((one) => (one.values[place] ?? 0) > 0)).toReversed();
  return (
    <div tabIndex={0} role="group" aria-label={title} className="max-h-64 overflow-auto">
      <table className="w-full text-sm tabular-nums">
        <thead className="sticky top-0 bg-bg">
          <tr>
            <th scope="col" className="px-3 py-1 text-left font-semibold">{t('when')}</th>
            {series.map((one) => <th key={one.key} scope="col" className="px-3 py-1 text-right font-semibold">{one.label}</th>)}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ span, place }) => (
            <tr key={span.first} className="border-t">
              <th scope="row" className="px-3 py-1 text-left font-normal whitespace-nowrap">{spanName(locale, span)}</th>
              {series.map((one) => <td key={one.key} className="px-3 py-1 text-right">{(one.values[place] ?? 0) === 0 ? <span className="text-muted">0</span> : count(locale, one.values[place] ?? 0)}</td>)}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
