// The log as series of numbers, one for each bar of a chart.
import type { AuditCount } from '@/lib/api/types';

export interface Series {
  key: string;
  /** One number for each bar. */
  values: number[];
  total: number;
}

/** A stretch of days that is one bar. */
export interface Span {
  first: string;
  last: string;
}

const pad = (value: number) => String(value).padStart(2, '0');
const dayOf = (date: Date): string => `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;

/** The last days up to now, the oldest first, as the clock here has them. */
export function lastDays(count: number, now = new Date()): string[] {
  return Array.from({ length: count }, (_, index) => dayOf(new Date(now.getFullYear(), now.getMonth(), now.getDate() - (count - 1 - index))));
}

/** The moment at which a day begins here. */
export const beginningOf = (day: string): Date => {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  return new Date(year, month - 1, date);
};

/** Days as bars: as many days to a bar as are needed to have at most so many. The newest bar is always whole. */
export function spansOf(days: string[], most: number): Span[] {
  const size = Math.max(1, Math.ceil(days.length / Math.max(1, most)));
  const spans: Span[] = [];
  for (let end = days.length; end > 0; end -= size) {
    const part = days.slice(Math.max(0, end - size), end);
    spans.unshift({ first: part[0] ?? '', last: part.at(-1) ?? '' });
  }
  return spans;
}

/** So many series are told apart; what is rarer is put together under this key. */
export const MOST_SERIES = 7;
export const OTHERS = '…';

/** Counts by what `keyOf` tells, the most frequent first; what it tells nothing of is left out. */
export function seriesOf(counts: AuditCount[], spans: Span[], keyOf: (count: AuditCount) => string | null, order?: string[]): Series[] {
  const found = new Map<string, number[]>();
  for (const one of counts) {
    const key = keyOf(one);
    const place = spans.findIndex((span) => span.first <= one.day && one.day <= span.last);
    if (key === null || place < 0) continue;
    const values = found.get(key) ?? spans.map(() => 0);
    values[place] = (values[place] ?? 0) + one.count;
    found.set(key, values);
  }
  const all = [...found].map(([key, values]): Series => ({ key, values, total: values.reduce((sum, value) => sum + value, 0) }));
  if (order) return all.toSorted((a, b) => order.indexOf(a.key) - order.indexOf(b.key));
  const sorted = all.toSorted((a, b) => b.total - a.total || a.key.localeCompare(b.key));
  if (sorted.length <= MOST_SERIES) return sorted;
  const rest = sorted.slice(MOST_SERIES - 1);
  const values = spans.map((_, place) => rest.reduce((sum, one) => sum + (one.values[place] ?? 0), 0));
  return [...sorted.slice(0, MOST_SERIES - 1), { key: OTHERS, values, total: rest.reduce((sum, one) => sum + one.total, 0) }];
}

/** Round numbers from zero to at least the highest, about four of them. */
export function ticksOf(highest: number): number[] {
  const rough = Math.max(1, highest) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, [1, 2, 5, 10].map((factor) => factor * power).find((value) => value >= rough) ?? rough);
  return Array.from({ length: Math.ceil(Math.max(1, highest) / step) + 1 }, (_, index) => index * step);
}

/** Refusals of calls. One in plan mode is logged twice, once for the mode; it counts once. */
export const isViolation = (one: AuditCount): boolean => one.kind === 'tool_blocked';
/** A switch, and not the beginning of a chat. */
export const isSwitch = (one: AuditCount): boolean => one.kind === 'mode_entered' && one.by !== null;

export const sum = (counts: AuditCount[], which: (one: AuditCount) => boolean): number => counts.reduce((total, one) => total + (which(one) ? one.count : 0), 0);
