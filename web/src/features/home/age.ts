// How long ago something was, in a word.
import type { Locale } from '@/i18n';
import type { Text } from '@/i18n';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** "2 min", "3 h", "Fri", "12 Jan". */
export function age(t: Text<'inbox'>, locale: Locale, at: string, now = Date.now()): string {
  const passed = now - Date.parse(at);
  if (passed < MINUTE) return t('now');
  if (passed < HOUR) return t('minutes', { count: Math.floor(passed / MINUTE) });
  if (passed < DAY) return t('hours', { count: Math.floor(passed / HOUR) });
  const options: Intl.DateTimeFormatOptions = passed < 7 * DAY ? { weekday: 'short' } : { month: 'short', day: 'numeric' };
  return new Intl.DateTimeFormat(locale, options).format(new Date(at));
}
