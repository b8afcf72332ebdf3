import { useId, useState, type PointerEvent, type ReactNode } from 'react';
import { Segments } from '@/components/Segments';
import { useLocale, useText } from '@/i18n';
import { count } from '@/lib/number';
import { BarTable } from './BarTable';
import { beginningOf, ticksOf, type Series, type Span } from './series';
import { useWidth } from './useWidth';

export interface Shown extends Series {
  label: string;
  colour: string;
}

const HEIGHT = 190;
const LEFT = 34;
const BOTTOM = 22;
const TOP = 8;
/** A bar with its gap is at least so wide. */
export const NARROWEST = 7;

/** Bars over time, one colour on the other; the same as a table for whoever prefers that. */
export function StackedBars({ title, hint, spans, series, choice }: { title: string; hint: string; spans: Span[]; series: Shown[]; choice?: ReactNode }) {
  const t = useText('audit');
  const locale = useLocale((state) => state.locale);
  const [look, setLook] = useState<'chart' | 'table'>('chart');
  const id = useId();
  const total = series.reduce((sum, one) => sum + one.total, 0);
  return (
    <section aria-labelledby={id} className="flex min-w-0 flex-col gap-2 border-t pt-4">
      <div className="flex flex-wrap items-start gap-x-3 gap-y-1">
        <div className="min-w-0 flex-1 basis-56">
          <h2 id={id} className="font-semibold">{title}</h2>
          <p className="text-sm text-muted">{hint}</p>
        </div>
        {choice}
        <Segments label={t('look', { title })} value={look} choose={setLook} choices={[['chart', t('chart')], ['table', t('table')]]} />
      </div>
      {total === 0 ? <p className="py-10 text-center text-muted">{t('none')}</p> : look === 'table' ? <BarTable title={title} spans={spans} series={series} /> : <Bars title={title} spans={spans} series={series} />}
      {total > 0 && (
        <ul className="flex flex-wrap gap-x-4 gap-y-1 text-sm">
          {series.map((one) => <li key={one.key} className="flex min-w-0 items-center gap-1.5"><Swatch colour={one.colour} /><span className="truncate">{one.label}</span> <span className="text-muted tabular-nums">{count(locale, one.total)}</span></li>)}
        </ul>
      )}
    </section>
  );
}

const Swatch = ({ colour }: { colour: string }) => <span aria-hidden className="inline-block size-2.5 shrink-0 rounded-xs" style={{ background: colour }} />;

function Bars({ title, spans, series }: { title: string; spans: Span[]; series: Shown[] }) {
  const t = useText('audit');
  const locale = useLocale((state) => state.locale);
  const [frame, width] = useWidth();
  const [at, setAt] = useState<number | null>(null);
  const sums = spans.map((_, place) => series.reduce((sum, one) => sum + (one.values[place] ?? 0), 0));
  const ticks = ticksOf(Math.max(...sums));
  const top = ticks.at(-1) ?? 1;
  const step = (width - LEFT) / spans.length;
  const y = (value: number) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / top);
  const name = (span: Span) => spanName(locale, span);
  const onPointerMove = (event: PointerEvent<SVGSVGElement>) => {
    const place = Math.floor((event.clientX - event.currentTarget.getBoundingClientRect().left - LEFT) / step);
    setAt(place >= 0 && place < spans.length ? place : null);
  };
  const best = sums.indexOf(Math.max(...sums));
  const told = t('summary', { title, total: count(locale, sums.reduce((sum, value) => sum + value, 0)), most: count(locale, sums[best] ?? 0), when: name(spans[best] ?? { first: '', last: '' }) });
  return (
    <div ref={frame} className="relative">
      <svg role="img" aria-label={told} width={width} height={HEIGHT} onPointerMove={onPointerMove} onPointerLeave={() => setAt(null)} className="block max-w-full">
        {ticks.map((tick) => (
          <g key={tick}>
            <line x1={LEFT} x2={width} y1={y(tick)} y2={y(tick)} stroke="var(--line)" />
            <text x={LEFT - 6} y={y(tick) + 4} textAnchor="end" fontSize="11" fill="var(--fg3)">{count(locale, tick)}</text>
          </g>
        ))}
        {at !== null && <rect x={LEFT + at * step} y={TOP} width={step} height={HEIGHT - TOP - BOTTOM} fill="var(--surface)" />}
        {spans.map((span, place) => <Bar key={span.first} place={place} series={series} x={LEFT + place * step + Math.min(2, step * 0.15)} width={Math.max(1, step - Math.min(4, step * 0.3))} y={y} />)}
        <Dates spans={spans} step={step} width={width} />
      </svg>
      {at !== null && spans[at] && <Hover name={name(spans[at])} place={at} series={series} x={LEFT + (at + 0.5) * step} isRight={at > spans.length / 2} />}
    </div>
  );
}

function Bar({ place, series, x, width, y }: { place: number; series: Shown[]; x: number; width: number; y: (value: number) => number }) {
  let below = 0;
  return series.map((one) => {
    const value = one.values[place] ?? 0;
    const from = below;
    below += value;
    return value > 0 && <rect key={one.key} data-series={one.key} x={x} width={width} y={y(below)} height={Math.max(1, y(from) - y(below))} fill={one.colour} stroke="var(--bg)" strokeWidth="0.75" />;
  });
}

/** About one date every 90 pixels. */
function Dates({ spans, step, width }: { spans: Span[]; step: number; width: number }) {
  const locale = useLocale((state) => state.locale);
  const format = new Intl.DateTimeFormat(locale, { month: 'short', day: 'numeric' });
  const every = Math.max(1, Math.ceil(90 / step));
  return spans.map((span, place) => {
    const x = LEFT + (place + 0.5) * step;
    if ((spans.length - 1 - place) % every !== 0 || x < LEFT + 12) return null;
    const anchor = x > width - 30 ? 'end' : 'middle';
    return <text key={span.first} x={anchor === 'end' ? width : x} y={HEIGHT - 6} textAnchor={anchor} fontSize="11" fill="var(--fg3)">{format.format(beginningOf(span.last))}</text>;
  });
}

function Hover({ name, place, series, x, isRight }: { name: string; place: number; series: Shown[]; x: number; isRight: boolean }) {
  const locale = useLocale((state) => state.locale);
  const here = series.filter((one) => (one.values[place] ?? 0) > 0);
  return (
    <div aria-hidden className="pointer-events-none absolute top-2 z-10 max-w-64 rounded-md border bg-raised px-2.5 py-1.5 text-xs shadow-raised" style={isRight ? { right: `calc(100% - ${x - 10}px)` } : { left: x + 10 }}>
      <p className="font-semibold whitespace-nowrap">{name}</p>
      {here.length === 0 && <p className="text-muted">0</p>}
      {here.map((one) => <p key={one.key} className="flex items-center gap-1.5"><Swatch colour={one.colour} /><span className="min-w-0 truncate">{one.label}</span><span className="ml-auto pl-2 tabular-nums">{count(locale, one.values[place] ?? 0)}</span></p>)}
    </div>
  );
}

export function spanName(locale: string, { first, last }: Span): string {
  const format = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' });
  return first === last ? format.format(beginningOf(first)) : format.formatRange(beginningOf(first), beginningOf(last));
}
