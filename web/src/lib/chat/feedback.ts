import { cut } from '@/lib/cut';

/** A comment on a step, with the step's number and words, so that it still fits when steps move. */
interface StepRemark {
  step: number | null;
  action: string;
  quote: string;
  text: string;
}

/** How the message to the agent begins, and how it names a step; in the user's language. */
interface FeedbackWords {
  lead: string;
  step: (number: number, action: string) => string;
}

/** The comments as one message, in the order of their steps. */
export function feedbackMessage(remarks: readonly StepRemark[], whole: string, words: FeedbackWords): string {
  const lines = remarks
    .toSorted((one, other) => (one.step ?? 0) - (other.step ?? 0))
    .map(({ step, action, quote, text }) => {
      const place = [step === null ? '' : words.step(step, oneLine(action)), quote === '' ? '' : `“${oneLine(quote)}”`].filter((part) => part !== '').join(', ');
      return `- ${place === '' ? '' : `${place}: `}${indented(text.trim())}`;
    });
  return [words.lead, lines.join('\n'), whole.trim()].filter((part) => part !== '').join('\n\n');
}

const oneLine = (text: string): string => cut(text.replaceAll(/\s+/g, ' ').trim(), 120);

/** Further lines of a comment stay within its item of the list. */
const indented = (remark: string): string => remark.replaceAll('\n', '\n  ');
