// Numbers as people read them.
import type { Locale } from '@/i18n';

export const count = (locale: Locale, value: number) => new Intl.NumberFormat(locale).format(value);
export const percent = (locale: Locale, share: number, digits = 0) => new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: digits }).format(share);

export function bytes(locale: Locale, value: number): string {
  const [unit, size] = value < 1000 ? (['B', 1] as const) : value < 1_000_000 ? (['KB', 1000] as const) : (['MB', 1_000_000] as const);
  return `${new Intl.NumberFormat(locale, { maximumFractionDigits: 1 }).format(value / size)}\u00a0${unit}`;
}

/** In the catalog's currency, which is the dollar. */
export const money = (locale: Locale, value: number) =>
  new Intl.NumberFormat(locale, { style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol', maximumFractionDigits: value < 1 ? 4 : 2 }).format(value);
