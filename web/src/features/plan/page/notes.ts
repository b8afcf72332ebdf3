// Comments that were sent on a plan, and what became of them.
import type { Message } from '@/lib/api/types';
import { comparePlans } from '../diff';
import type { Plan, Revision } from '../model';

export interface Note {
  id: string;
  /** The step of the version that is shown; null for the whole plan, or a step that is gone. */
  step: number | null;
  isGone: boolean;
  quote: string;
  text: string;
  state: 'sent' | 'done' | 'declined' | 'unanswered';
  /** What the Planner says about it. */
  answer: string;
}

interface Sent {
  id: string;
  step: number | null;
  quote: string;
  text: string;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
const text = (value: unknown) => (typeof value === 'string' ? value : '');
const records = (value: unknown) => (Array.isArray(value) ? value.filter(isRecord) : []);

const readSent = (raw: Record<string, unknown>): Sent => ({ id: text(raw.id), step: typeof raw.step === 'number' ? raw.step : null, quote: text(raw.quote), text: text(raw.text) });

/** Comments on the plan; those on lines of a file are another matter. */
function sentIn(message: Message): Sent[] {
  if (message.author !== 'user') return [];
  return records(message.metadata.comments).filter((raw) => typeof raw.path !== 'string').map(readSent);
}

/** The comments that this version answers, and those that were sent on it and wait for the next. */
export function notesOf(messages: readonly Message[], revisions: readonly Revision[], shown: Revision): { answered: Note[]; waiting: Note[]; on: number | null } {
  const at = messages.findIndex((message) => message.id === shown.messageId);
  const place = revisions.indexOf(shown);
  const [before, next] = [revisions[place - 1], revisions[place + 1]];
  const until = next ? messages.findIndex((message) => message.id === next.messageId) : messages.length;
  const answered = records(messages[at]?.metadata.comments).map((raw): Note => {
    const sent = readSent(raw);
    const step = sent.step === null || !before ? sent.step : movedTo(sent.step, before.plan, shown.plan);
    const state = raw.outcome === 'done' || raw.outcome === 'declined' ? raw.outcome : 'unanswered';
    return { ...sent, step, isGone: sent.step !== null && step === null, state, answer: text(raw.note) };
  });
  const later = at < 0 ? [] : messages.slice(at + 1, until).flatMap(sentIn);
  return { answered, waiting: later.map((one) => ({ ...one, isGone: false, state: 'sent', answer: '' })), on: before?.revision ?? null };
}

/** Where a step of an earlier version is now: the one with the same words, else the one that it became. */
function movedTo(step: number, before: Plan, after: Plan): number | null {
  const old = before.steps.find((one) => one.step_number === step);
  if (!old) return null;
  const same = after.steps.find((one) => one.action === old.action);
  if (same) return same.step_number;
  const change = comparePlans(before, after).steps.find((one) => one.kind === 'changed' && one.before.step_number === step);
  return change?.step.step_number ?? null;
}
