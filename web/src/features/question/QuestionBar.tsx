import { useChatView } from '@/lib/chat/context';

export function QuestionBar() {
  const question = useChatView((view) => view.question);
  return question && <p>{question.questions[0]?.question}</p>;
}
