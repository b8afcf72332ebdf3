import { cut } from '@/lib/cut';
/** The part of a plan that a remark is about. */
export interface Remarked {
  steps: readonly { step_number: number; action: string }[];
}

/** What the user wants changed in a plan: remarks by step number, and one about the whole. */
export interface Feedback {
  steps: Record<number, string>;
  whole: string;
}

export const NO_FEEDBACK: Feedback = { steps: {}, whole: '' };

export function hasFeedback(feedback: Feedback): boolean {
  return feedback.whole.trim() !== '' || Object.values(feedback.steps).some((remark) => remark.trim() !== '');
}

/** Parses stored remarks, and drops invalid ones. */
export function readFeedback(raw: unknown): Feedback {
  const { steps, whole } = (typeof raw === 'object' && raw !== null ? raw : {}) as { steps?: unknown; whole?: unknown };
  const given = typeof steps === 'object' && steps !== null ? Object.entries(steps).filter(([, remark]) => typeof remark === 'string') : [];
  return { steps: Object.fromEntries(given) as Feedback['steps'], whole: typeof whole === 'string' ? whole : '' };
}

/** How the message to the agent begins; the words are of the user's language. */
interface FeedbackWords {
  lead: (revision: number) => string;
  step: (number: number, action: string) => string;
}

/** The remarks as one message. Each names its step by number and words, so that it still fits when steps move. */
export function feedbackMessage(feedback: Feedback, plan: Remarked, revision: number, words: FeedbackWords): string {
  const remarks = plan.steps
    .map((step) => ({ step, remark: (feedback.steps[step.step_number] ?? '').trim() }))
    .filter(({ remark }) => remark !== '')
    .map(({ step, remark }) => `- ${words.step(step.step_number, oneLine(step.action))}: ${indented(remark)}`);
  return [words.lead(revision), remarks.join('\n'), feedback.whole.trim()].filter((part) => part !== '').join('\n\n');
}

function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return cut(line, 120);
}

/** Further lines of a remark stay within its item of the list. */
function indented(remark: string): string {
  return remark.replaceAll('\n', '\n  ');
}
