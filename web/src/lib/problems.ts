// What went wrong, in the reader's language: words by the server's code, and the server's own sentence, which is English, as detail.
import { useEffect, useState } from 'react';
import { loadText, loadedText, useLocale, type Locale, type Text } from '@/i18n';
import { ApiError } from './api/request';
import type { Problem } from './api/types';

interface Explained {
  title: string;
  /** Empty where the title says it all. */
  detail: string;
}

function explain(reason: unknown, t: Text<'errors'> | null, common: Text<'common'> | null): Explained {
  const problem = reason instanceof ApiError ? reason.problem : reason && typeof reason === 'object' && 'code' in reason ? (reason as Problem) : null;
  if (!problem) return { title: reason instanceof Error ? reason.message : String(reason), detail: '' };
  if (problem.code === 'UNREACHABLE') return { title: common?.('unreachable') ?? problem.message, detail: common?.('unreachableHint') ?? '' };
  const title = t?.(problem.code) ?? '';
  // A code of a newer server has no words yet.
  return title === '' || title === problem.code ? { title: problem.message, detail: '' } : { title, detail: problem.message };
}

/** Explains errors; while their words are on their way, in the server's own. */
export function useExplain(): (reason: unknown) => Explained {
  const locale = useLocale((state) => state.locale);
  const [, show] = useState<Locale>();
  useEffect(() => void loadText('errors').then(() => show(locale), () => undefined), [locale]);
  return (reason) => explain(reason, loadedText('errors'), loadedText('common'));
}

/** The same in one line; null where nothing is wrong. English needs no more than the server's sentence. */
export function useProblemLine(): (reason: unknown) => string | null {
  const locale = useLocale((state) => state.locale);
  const explained = useExplain();
  return (reason) => (reason === null || reason === undefined ? null : lineOf(explained(reason), locale));
}

const lineOf = ({ title, detail }: Explained, locale: Locale) => (detail === '' ? title : locale === 'en' ? detail : `${title}${detail}`);

/** The same once the words are there; without them if they can't be loaded. */
export const explained = (reason: unknown): Promise<Explained> => loadText('errors').then((t) => explain(reason, t, loadedText('common')), () => explain(reason, null, loadedText('common')));

export const problemLine = async (reason: unknown): Promise<string> => lineOf(await explained(reason), useLocale.getState().locale);
