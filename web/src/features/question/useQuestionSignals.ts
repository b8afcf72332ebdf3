import { useEffect, useRef } from 'react';
import { useText } from '@/i18n';
import { announce } from '@/lib/announce';
import { askToNotify, markPage, notifyHidden } from './attention';
import type { QuestionView } from './view';

/** Says that a question waits: to the ear, in the tab's title and icon, and to somebody who looks elsewhere. */
export function useQuestionSignals(question: QuestionView | undefined): void {
  const t = useText('question');
  const { id, severity } = question ?? {};
  const words = question === undefined ? '' : wordsOf(question);
  /** What waited when the page was opened is no news. */
  const known = useRef(id);
  useEffect(() => {
    if (id === undefined) return undefined;
    const isNew = known.current !== id;
    known.current = id;
    if (severity === 'critical') announce(t('announceCritical', { question: words }), 'assertive');
    else announce(t('announce', { question: words }));
    if (isNew) {
      askToNotify();
      notifyHidden(t('notification'), words, id);
    }
    return markPage();
  }, [id, severity, words, t]);
}

/** The first question without its marks, short enough to be listened to. */
function wordsOf({ items, plan, call }: QuestionView): string {
  const subject = plan?.goal ?? call?.reason;
  const text = typeof subject === 'string' && subject !== '' ? subject : (items[0]?.text ?? '');
  return text.replaceAll(/[`*_#>]/g, '').replaceAll(/\s+/g, ' ').trim().slice(0, 200);
}
