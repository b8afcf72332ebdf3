import { useMemo } from 'react';
import { part } from '@/components/part';
import { useChatView } from '@/lib/chat/context';
import { useQuestionSignals } from './useQuestionSignals';
import { readQuestion } from './view';

const PendingQuestion = part(() => import('./PendingQuestion').then((all) => all.PendingQuestion), null);

/** Above the composer while a question waits. It never takes the focus by itself; Alt+Q goes to it. */
export function QuestionBar() {
  const raw = useChatView((view) => view.question);
  const question = useMemo(() => readQuestion(raw), [raw]);
  useQuestionSignals(question);
  return question === undefined ? null : <PendingQuestion key={question.id} view={question} />;
}
