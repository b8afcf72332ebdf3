// How a question of the history ended.
import type { Json, Message, QuestionOutcome } from '@/lib/api/types';
import type { ChatView } from '@/lib/chat/view';
import { isObject } from './json';

export interface QuestionRecord {
  status: 'pending' | QuestionOutcome;
  answers: { [name: string]: Json };
  comment?: string;
}

/** From the chat's view. A question that neither waits nor has an answer was passed over. */
export function recordOf(view: ChatView, questionId: string): QuestionRecord {
  const answer = view.messages.findLast((message) => answerIn(message)?.question_id === questionId);
  const given = answer === undefined ? undefined : answerIn(answer);
  if (given !== undefined) {
    const comment = answer?.metadata.comment;
    return { status: 'answered', answers: isObject(given.answers) ? given.answers : {}, ...(typeof comment === 'string' && { comment }) };
  }
  if (view.question?.question_id === questionId) return { status: 'pending', answers: {} };
  return { status: view.resolved[questionId] ?? 'superseded', answers: {} };
}

function answerIn(message: Message) {
  const answer = message.metadata.question_answer;
  return isObject(answer) ? answer : undefined;
}
