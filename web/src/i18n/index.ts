// The words of the user interface. A key that one language lacks is a type error.
//
// `{name}` is replaced by a value; `{count|file|files}` by the first word for one, else by the second.
import { use } from 'react';
import { create } from 'zustand';
import { LOADERS, SET_OF, type Dictionary, type Feature, type Locale, type WordSet } from './sets';

export type { Locale } from './sets';
export type Key<F extends Feature> = keyof Dictionary[F] & string;

type NameOf<Slot extends string> = Slot extends `${infer Name}|${string}` ? Name : Slot;
type Names<Text> = Text extends `${string}{${infer Slot}}${infer Rest}` ? NameOf<Slot> | Names<Rest> : never;
type Values<Text> = [Names<Text>] extends [never] ? [] : [values: { [Name in Names<Text>]: string | number }];
export type Text<F extends Feature> = <K extends Key<F>>(key: K, ...values: Values<Dictionary[F][K]>) => string;

const KEY = 'planwright.locale';

function firstLocale(): Locale {
  const stored = localStorage.getItem(KEY);
  if (stored === 'en' || stored === 'zh') return stored;
  return navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en';
}

export const useLocale = create<{ locale: Locale }>(() => ({ locale: firstLocale() }));

type Words = Record<string, Record<string, string>>;
/** Of the sets that are loaded. */
const values = new Map<string, Words>();
const loading = new Map<string, Promise<Words>>();

/** Loads a set of words in one language, once. A failed attempt is forgotten, so that the next one starts over. */
function load(locale: Locale, set: WordSet): Promise<Words> {
  const name = `${locale}.${set}`;
  const known = loading.get(name);
  if (known) return known;
  const promise: Promise<Words> = LOADERS[locale][set]().then((words: Words) => {
    values.set(name, words);
    // React reads these, so that words that are there are drawn at once.
    Object.assign(promise, { status: 'fulfilled', value: words });
    return words;
  });
  loading.set(name, promise);
  promise.catch(() => loading.delete(name));
  return promise;
}

/** Starts to load the words of a part together with its code. */
export async function withWords<T>(set: WordSet, code: Promise<T>): Promise<T> {
  const [all] = await Promise.all([code, load(useLocale.getState().locale, set)]);
  return all;
}

export async function setLocale(locale: Locale): Promise<void> {
  const { locale: current } = useLocale.getState();
  const shown = (Object.keys(LOADERS.en) as WordSet[]).filter((set) => values.has(`${current}.${set}`));
  await Promise.all(shown.map((set) => load(locale, set)));
  localStorage.setItem(KEY, locale);
  useLocale.setState({ locale });
}

/** To be awaited before anything is drawn. Keeps the document's language up to date from then on. */
export async function startLocale(): Promise<void> {
  // A page in English is better than none.
  await load(useLocale.getState().locale, 'first').catch(async () => {
    await load('en', 'first');
    useLocale.setState({ locale: 'en' });
  });
  const show = () => {
    document.documentElement.lang = useLocale.getState().locale === 'zh' ? 'zh-CN' : 'en';
  };
  show();
  useLocale.subscribe(show);
}

const texts = new Map<string, unknown>();

/** The words of one feature. The function is the same one each time. Suspends until its set is loaded. */
export function useText<F extends Feature>(feature: F): Text<F> {
  const locale = useLocale((state) => state.locale);
  const set = SET_OF[feature];
  return textOf(locale, feature, use(load(locale, set)));
}

function textOf<F extends Feature>(locale: Locale, feature: F, words: Words): Text<F> {
  const name = `${locale}.${feature}`;
  if (!texts.has(name)) texts.set(name, speak(locale, words[feature] ?? {}));
  return texts.get(name) as Text<F>;
}

/** The words of a feature once their set is loaded; for code outside of components. */
export async function loadText<F extends Feature>(feature: F): Promise<Text<F>> {
  await load(useLocale.getState().locale, SET_OF[feature]);
  return loadedText(feature) as Text<F>;
}

/** Null while they are not loaded. */
export function loadedText<F extends Feature>(feature: F): Text<F> | null {
  const { locale } = useLocale.getState();
  const words = values.get(`${locale}.${SET_OF[feature]}`);
  return words ? textOf(locale, feature, words) : null;
}

function speak(locale: Locale, words: Record<string, string>) {
  const plural = new Intl.PluralRules(locale);
  return (key: string, values: Record<string, string | number> = {}) => fill(words[key] ?? key, values, plural);
}

function fill(text: string, values: Record<string, string | number>, plural: Intl.PluralRules): string {
  return text.replace(/\{([^}]*)\}/g, (_, slot: string) => {
    const [name = '', one, other] = slot.split('|');
    const value = values[name] ?? '';
    if (one === undefined) return String(value);
    return plural.select(Number(value)) === 'one' ? one : (other ?? one);
  });
}
