// The words of the user interface. A key that one language lacks is a type error.
//
// `{name}` is replaced by a value; `{count|file|files}` by the first word for one, else by the second.
import { create } from 'zustand';
import { en } from './en';
import { zh } from './zh';

export type Locale = 'en' | 'zh';
type Dictionary = typeof en;
export type Feature = keyof Dictionary;
export type Key<F extends Feature> = keyof Dictionary[F] & string;
/** What every other language must have. */
export type Translation = { [F in Feature]: { [K in keyof Dictionary[F]]: string } };

type NameOf<Slot extends string> = Slot extends `${infer Name}|${string}` ? Name : Slot;
type Names<Text> = Text extends `${string}{${infer Slot}}${infer Rest}` ? NameOf<Slot> | Names<Rest> : never;
type Values<Text> = [Names<Text>] extends [never] ? [] : [values: { [Name in Names<Text>]: string | number }];
export type Text<F extends Feature> = <K extends Key<F>>(key: K, ...values: Values<Dictionary[F][K]>) => string;

const DICTIONARIES: Record<Locale, Translation> = { en, zh };
const KEY = 'planwright.locale';

function firstLocale(): Locale {
  const stored = localStorage.getItem(KEY);
  if (stored === 'en' || stored === 'zh') return stored;
  return navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en';
}

export const useLocale = create<{ locale: Locale }>(() => ({ locale: firstLocale() }));

export function setLocale(locale: Locale): void {
  localStorage.setItem(KEY, locale);
  useLocale.setState({ locale });
}

/** Keeps the document's language up to date. */
export function startLocale(): void {
  const show = () => {
    document.documentElement.lang = useLocale.getState().locale === 'zh' ? 'zh-CN' : 'en';
  };
  show();
  useLocale.subscribe(show);
}

const texts = new Map<string, unknown>();

/** The words of one feature in one language. The function is the same one each time. */
export function textOf<F extends Feature>(locale: Locale, feature: F): Text<F> {
  const name = `${locale}.${feature}`;
  if (!texts.has(name)) {
    const words = DICTIONARIES[locale][feature] as Record<string, string>;
    const plural = new Intl.PluralRules(locale);
    texts.set(name, (key: string, values: Record<string, string | number> = {}) => fill(words[key] ?? key, values, plural));
  }
  return texts.get(name) as Text<F>;
}

export function useText<F extends Feature>(feature: F): Text<F> {
  return textOf(useLocale((state) => state.locale), feature);
}

function fill(text: string, values: Record<string, string | number>, plural: Intl.PluralRules): string {
  return text.replace(/\{([^}]*)\}/g, (_, slot: string) => {
    const [name = '', one, other] = slot.split('|');
    const value = values[name] ?? '';
    if (one === undefined) return String(value);
    return plural.select(Number(value)) === 'one' ? one : (other ?? one);
  });
}
