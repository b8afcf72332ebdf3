// The words of the user interface. A key that one language lacks is a type error.
//
// `{name}` is replaced by a value; `{count|file|files}` by the first word for one, else by the second.
import { create } from 'zustand';
// English is always there; the others are loaded when they are chosen.
import { en } from './en';

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

const dictionaries: { en: Translation; zh?: Translation } = { en };
const KEY = 'planwright.locale';

function firstLocale(): Locale {
  const stored = localStorage.getItem(KEY);
  if (stored === 'en' || stored === 'zh') return stored;
  return navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en';
}

export const useLocale = create<{ locale: Locale }>(() => ({ locale: firstLocale() }));

async function load(locale: Locale): Promise<void> {
  if (locale === 'zh') dictionaries.zh ??= (await import('./zh')).zh;
}

export async function setLocale(locale: Locale): Promise<void> {
  localStorage.setItem(KEY, locale);
  await load(locale);
  useLocale.setState({ locale });
}

/** To be awaited before anything is drawn. Keeps the document's language up to date from then on. */
export async function startLocale(): Promise<void> {
  const chosen = useLocale.getState().locale;
  // Without its words the page is better in English than not there.
  await load(chosen).catch(() => useLocale.setState({ locale: 'en' }));
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
    texts.set(name, speak(locale, (dictionaries[locale] ?? en)[feature]));
  }
  return texts.get(name) as Text<F>;
}

function speak(locale: Locale, words: Record<string, string>) {
  const plural = new Intl.PluralRules(locale);
  return (key: string, values: Record<string, string | number> = {}) => fill(words[key] ?? key, values, plural);
}

export function useText<F extends Feature>(feature: F): Text<F> {
  return textOf(useLocale((state) => state.locale), feature);
}

/** The words of a page that is loaded on demand, in all languages; they come with the page. */
export interface PageWords<D extends Record<string, string>> {
  en: D;
  zh: { [K in keyof D]: string };
  texts: Map<Locale, unknown>;
}
type PageText<D> = <K extends keyof D & string>(key: K, ...values: Values<D[K]>) => string;

export function pageWords<const D extends Record<string, string>>(en: D, zh: { [K in keyof D]: string }): PageWords<D> {
  return { en, zh, texts: new Map() };
}

export function usePageText<D extends Record<string, string>>(words: PageWords<D>): PageText<D> {
  const locale = useLocale((state) => state.locale);
  if (!words.texts.has(locale)) words.texts.set(locale, speak(locale, words[locale]));
  return words.texts.get(locale) as PageText<D>;
}

function fill(text: string, values: Record<string, string | number>, plural: Intl.PluralRules): string {
  return text.replace(/\{([^}]*)\}/g, (_, slot: string) => {
    const [name = '', one, other] = slot.split('|');
    const value = values[name] ?? '';
    if (one === undefined) return String(value);
    return plural.select(Number(value)) === 'one' ? one : (other ?? one);
  });
}
