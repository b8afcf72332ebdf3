import type { Json } from '@/lib/api/types';
import { type Draft, readDraft } from './draft';
import { isObject } from './json';

/** A half-given answer: what was typed or picked for each question, and which of them is shown. */
export interface KeptAnswer {
  drafts: Record<string, Draft>;
  picked: Record<string, Json>;
  step: number;
}

const PREFIX = 'planwright.answer.';
/** Answers of this many questions are kept; older ones go. */
const MOST_KEPT = 20;

export function keptAnswer(questionId: string): KeptAnswer | undefined {
  try {
    const raw: unknown = JSON.parse(sessionStorage.getItem(PREFIX + questionId) ?? 'null');
    if (!isObject(raw) || !isObject(raw.drafts)) return undefined;
    const drafts = Object.fromEntries(Object.entries(raw.drafts).map(([name, draft]) => [name, readDraft(draft)]));
    return { drafts, picked: isObject(raw.picked) ? raw.picked : {}, step: typeof raw.step === 'number' ? raw.step : 0 };
  } catch {
    return undefined;
  }
}

export function keepAnswer(questionId: string, answer: KeptAnswer): void {
  try {
    forgetOldest();
    sessionStorage.setItem(PREFIX + questionId, JSON.stringify(answer));
  } catch {
    // Storage that is full or forbidden costs the draft at the next reload, nothing else.
  }
}

export function forgetAnswer(questionId: string): void {
  try {
    sessionStorage.removeItem(PREFIX + questionId);
  } catch {
    // What can't be read can't be forgotten either.
  }
}

/** Ids of questions grow with time, so the smallest key is the oldest. */
function forgetOldest(): void {
  const keys = Object.keys(sessionStorage).filter((key) => key.startsWith(PREFIX));
  for (const key of keys.sort().slice(0, Math.max(0, keys.length - MOST_KEPT))) sessionStorage.removeItem(key);
}
