// The unsent comments on a plan, as its card, its panel and the question bar show them. The plan's page shows the same ones.
import { useText } from '@/i18n';
import { reviewApi } from '@/lib/api/review';
import { useChatIds } from './context';
import { feedbackMessage } from './feedback';
import { stepOf, useDraft } from './planDrafts';

interface Remarked {
  steps: readonly { step_number: number; action: string }[];
}

export function useRemarks(plan: Remarked, revision: number) {
  const t = useText('plan');
  const { workspaceId, chatId } = useChatIds();
  const draft = useDraft(chatId, plan);
  // Here a step has one comment on the step as a whole; comments on some of its words are the page's.
  const remarkOn = (step: number) => draft.ofStep(step).find((one) => one.quote === '');
  const lead = t('feedbackLead', { revision });
  return {
    whole: draft.whole,
    has: draft.has,
    count: draft.written.length,
    remarkOn: (step: number): string => remarkOn(step)?.text ?? '',
    remark: (step: number, text: string) => {
      const known = remarkOn(step);
      if (known === undefined) draft.put(step, text);
      else if (text === '') draft.discard(known.id);
      else draft.write(known.id, text);
    },
    setWhole: draft.setWhole,
    discard: draft.clearComments,
    /** All of them as one text. */
    message: () => {
      const remarks = draft.written.map((one) => {
        const step = stepOf(one, draft.keys);
        return { step, action: plan.steps.find(({ step_number }) => step_number === step)?.action ?? '', quote: one.quote, text: one.text };
      });
      return feedbackMessage(remarks, draft.whole, { lead, step: (step, action) => t('feedbackStep', { step, action }) });
    },
    /** Sends them as a message, so that the next version can report on each. `key` is the same for every attempt. */
    send: async (key: string) => {
      const comments = draft.written.map((one) => {
        const step = stepOf(one, draft.keys);
        return { id: one.id, ...(step !== null && { step }), quote: one.quote, text: one.text.trim() };
      });
      await reviewApi.sendComments(workspaceId, chatId, draft.whole.trim() || lead, comments, key);
      draft.clearComments();
    },
  };
}
