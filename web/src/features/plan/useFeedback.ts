import { create } from 'zustand';
import { useText } from '@/i18n';
import { useChatActions, useChatView } from '@/lib/chat/context';
import { type Feedback, NO_FEEDBACK, feedbackMessage, hasFeedback } from './feedback';
import type { Revision } from './model';

/** Remarks that were not sent yet, by the plan's content: card and panel show the same. */
const useRemarks = create<Record<string, Feedback>>(() => ({}));

/** The remarks on one version, and how they become the next. */
export function useFeedback(revision: Revision) {
  const t = useText('plan');
  const key = revision.sha256 || revision.messageId;
  const feedback = useRemarks((remarks) => remarks[key] ?? NO_FEEDBACK);
  const { send, answer } = useChatActions();
  const card = useChatView(({ question }) => (question?.kind === 'plan_approval' ? question.question_id : undefined));
  const set = (next: Feedback) => useRemarks.setState({ [key]: next });
  return {
    feedback,
    has: hasFeedback(feedback),
    count: Object.values(feedback.steps).filter((remark) => remark.trim() !== '').length,
    remark: (step: number, text: string) => set({ ...feedback, steps: { ...feedback.steps, [step]: text } }),
    setWhole: (whole: string) => set({ ...feedback, whole }),
    discard: () => set(NO_FEEDBACK),
    /** As the answer "keep planning" where the plan waits for approval, else as a message. */
    submit: async () => {
      const words = {
        lead: (version: number) => t('feedbackLead', { revision: version }),
        step: (step: number, action: string) => t('feedbackStep', { step, action }),
      };
      const text = feedbackMessage(feedback, revision.plan, revision.revision, words);
      await (card === undefined ? send(text) : answer(card, { approve: false }, text));
      set(NO_FEEDBACK);
    },
  };
}
