// Remarks on a plan that were not sent yet, by the plan's content: card, panel and bar show the same. They outlive a reload.
import { create } from 'zustand';
import { useText } from '@/i18n';
import { type Feedback, NO_FEEDBACK, type Remarked, feedbackMessage, hasFeedback, readFeedback } from './feedback';

const KEY = 'planwright.remarks';
/** Maximum number of plans whose remarks are stored. */
const MOST_KEPT = 20;

function stored(): Record<string, Feedback> {
  try {
    const all = JSON.parse(sessionStorage.getItem(KEY) ?? '{}') as Record<string, unknown>;
    return Object.fromEntries(Object.entries(all).map(([plan, raw]) => [plan, readFeedback(raw)]));
  } catch {
    return {};
  }
}

const useStore = create<Record<string, Feedback>>(stored);
useStore.subscribe((all) => {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(Object.fromEntries(Object.entries(all).filter(([, feedback]) => hasFeedback(feedback)).slice(-MOST_KEPT))));
  } catch {
    // If storage is full or forbidden, only the remarks are lost at the next reload.
  }
});

/** The remarks on one version of a plan; `key` is the hash of its content. */
export function useRemarks(key: string, plan: Remarked, revision: number) {
  const t = useText('plan');
  const feedback = useStore((all) => all[key] ?? NO_FEEDBACK);
  const set = (next: Feedback) => useStore.setState({ [key]: next });
  return {
    feedback,
    has: hasFeedback(feedback),
    count: Object.values(feedback.steps).filter((remark) => remark.trim() !== '').length,
    remark: (step: number, text: string) => set({ ...feedback, steps: { ...feedback.steps, [step]: text } }),
    setWhole: (whole: string) => set({ ...feedback, whole }),
    discard: () => set(NO_FEEDBACK),
    /** All of them as one message to the agent. */
    message: () =>
      feedbackMessage(feedback, plan, revision, {
        lead: (version: number) => t('feedbackLead', { revision: version }),
        step: (step: number, action: string) => t('feedbackStep', { step, action }),
      }),
  };
}
