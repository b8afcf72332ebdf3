// Formats times.
import type { Locale } from '@/i18n';

export const clock = (locale: Locale, at: string) => new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit' }).format(new Date(at));
export const moment = (locale: Locale, at: string) =>
  new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(at));

/** Figures and Chinese characters have a space between them, which `Intl` leaves out. */
const spaced = (text: string) => text.replace(/(\d)(?=\p{Script=Han})/gu, '$1 ');

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [['day', 86_400], ['hour', 3_600], ['minute', 60]];

/** "2 hours ago"; the date when it is more than a week ago. */
export function ago(locale: Locale, at: string, now = Date.now()): string {
  const seconds = Math.round((now - Date.parse(at)) / 1000);
  if (seconds > 7 * 86_400) return new Intl.DateTimeFormat(locale, { dateStyle: 'medium' }).format(new Date(at));
  const [unit, size] = UNITS.find(([, size]) => seconds >= size) ?? ['second', 1];
  const format = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });
  return spaced(format.format(unit === 'second' ? 0 : -Math.floor(seconds / size), unit));
}

const SPOKEN: [RegExp, string][] = [[/^s(ec(ond)?s?)?$/, 'second'], [/^m(in(ute)?s?)?$/, 'minute'], [/^h(r|our)?s?$/, 'hour'], [/^d(ay)?s?$/, 'day']];

/** Translates a time that a model wrote in English, such as "2 min"; unknown forms stay. */
export function spoken(locale: Locale, time: string): string {
  const [, from, to, word = ''] = /^~?\s*(\d+)(?:\s*[-–]\s*(\d+))?\s*([a-z]+)\.?$/i.exec(time.trim()) ?? [];
  const unit = SPOKEN.find(([form]) => form.test(word.toLowerCase()))?.[1];
  if (from && !to && unit === 'minute' && Number(from) > 60) return longDuration(locale, Number(from) * 60_000);
  if (locale === 'en' || !from || !unit) return time;
  const format = new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' });
  return spaced(to ? `${from}–${format.format(Number(to))}` : format.format(Number(from)));
}

export function duration(locale: Locale, milliseconds: number): string {
  const [unit, value] = milliseconds < 1000 ? (['millisecond', milliseconds] as const) : (['second', milliseconds / 1000] as const);
  return spaced(new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits: unit === 'second' ? 1 : 0 }).format(value));
}

/** "9 min", "1 h 20 min"; in seconds below a minute. */
export function longDuration(locale: Locale, milliseconds: number): string {
  const minutes = Math.round(milliseconds / 60_000);
  if (milliseconds < 60_000) return duration(locale, Math.round(milliseconds / 1000) * 1000);
  const part = (unit: 'hour' | 'minute', value: number) => (value === 0 ? [] : [spaced(new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'short' }).format(value)).replace(' hr', ' h')]);
  return [...part('hour', Math.floor(minutes / 60)), ...part('minute', minutes % 60)].join(' ');
}
