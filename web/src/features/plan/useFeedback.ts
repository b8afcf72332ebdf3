import { useChatActions, useChatView } from '@/lib/chat/context';
import { useRemarks } from '@/lib/chat/remarks';
import type { Revision } from './model';

/** The remarks on one version, and how they become the next. */
export function useFeedback(revision: Revision) {
  const remarks = useRemarks(revision.sha256 || revision.messageId, revision.plan, revision.revision);
  const { send, answer } = useChatActions();
  const card = useChatView(({ question }) => (question?.kind === 'plan_approval' ? question.question_id : undefined));
  return {
    ...remarks,
    /** As the answer "keep planning" where the plan waits for approval, else as a message. */
    submit: async () => {
      const text = remarks.message();
      await (card === undefined ? send(text) : answer(card, { approve: false }, text));
      remarks.discard();
    },
  };
}
