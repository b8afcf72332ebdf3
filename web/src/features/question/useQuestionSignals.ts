import { useEffect } from 'react';
import { useText } from '@/i18n';
import { announce } from '@/lib/announce';
import { cut } from '@/lib/cut';
import type { QuestionView } from './view';

/** Says to the ear that a question waits. Title, icon and notification tell of the questions of all chats: `Signals`. */
export function useQuestionSignals(question: QuestionView | undefined): void {
  const t = useText('question');
  const { id, severity } = question ?? {};
  const words = question === undefined ? '' : wordsOf(question);
  useEffect(() => {
    if (id === undefined) return;
    if (severity === 'critical') announce(t('announceCritical', { question: words }), 'assertive');
    else announce(t('announce', { question: words }));
  }, [id, severity, words, t]);
}

/** The first question without its marks, short enough to be listened to. */
function wordsOf({ items, plan, call }: QuestionView): string {
  const subject = plan?.goal ?? call?.reason;
  const text = typeof subject === 'string' && subject !== '' ? subject : (items[0]?.text ?? '');
  return cut(text.replaceAll(/[`*_#>]/g, '').replaceAll(/\s+/g, ' ').trim(), 200);
}
