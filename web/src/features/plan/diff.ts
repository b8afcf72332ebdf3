import { align } from '@/lib/align';
import type { Plan, PlanStep } from './model';

/** A run of text that both versions have, or only one of them. */
export interface Piece {
  text: string;
  change: 'same' | 'added' | 'removed';
}

export interface FieldChange {
  field: 'reason' | 'files' | 'tools_needed' | 'estimated_time' | 'verify';
  pieces: Piece[];
}

export type StepChange =
  | { kind: 'added' | 'removed' | 'same'; step: PlanStep }
  | { kind: 'changed'; step: PlanStep; before: PlanStep; action: Piece[]; fields: FieldChange[] };

export interface ListChange {
  list: 'risks' | 'prerequisites' | 'assumptions' | 'validation';
  entries: Piece[];
}

interface PlanChange {
  goal: Piece[];
  total: Piece[];
  steps: StepChange[];
  lists: ListChange[];
}

/** What a newer version of a plan has changed. */
export function comparePlans(before: Plan, after: Plan): PlanChange {
  const lists = (['risks', 'prerequisites', 'assumptions', 'validation'] as const)
    .map((list) => ({ list, entries: compareEntries(before[list], after[list]) }))
    .filter(({ entries }) => entries.some((entry) => entry.change !== 'same'));
  return {
    goal: compareWords(before.goal, after.goal),
    total: compareWords(before.estimated_total_time ?? '', after.estimated_total_time ?? ''),
    steps: compareSteps(before.steps, after.steps),
    lists,
  };
}

export function isChanged(pieces: Piece[]): boolean {
  return pieces.some((piece) => piece.change !== 'same');
}

export function hasChanges(change: PlanChange): boolean {
  return isChanged(change.goal) || isChanged(change.total) || change.lists.length > 0 || change.steps.some((step) => step.kind !== 'same');
}

/** Steps are the same step if they say nearly the same; what is left between two such steps was added or removed. */
function compareSteps(before: PlanStep[], after: PlanStep[]): StepChange[] {
  const same = (one: PlanStep, other: PlanStep) => likeness(one.action, other.action) >= ALIKE;
  return align(before, after, same).map(([old, step]): StepChange => {
    if (old !== undefined && step !== undefined) return compareStep(old, step);
    if (step !== undefined) return { kind: 'added', step };
    return { kind: 'removed', step: old as PlanStep };
  });
}

/** The share of their words that two texts must have in common to count as versions of each other. */
const ALIKE = 0.5;

function compareStep(before: PlanStep, step: PlanStep): StepChange {
  const action = compareWords(before.action, step.action);
  const fields: FieldChange[] = (
    [
      { field: 'reason', pieces: compareWords(before.reason, step.reason) },
      { field: 'files', pieces: compareEntries(before.files, step.files) },
      { field: 'tools_needed', pieces: compareEntries(before.tools_needed, step.tools_needed) },
      { field: 'estimated_time', pieces: compareWords(before.estimated_time ?? '', step.estimated_time ?? '') },
      { field: 'verify', pieces: compareWords(before.verify ?? '', step.verify ?? '') },
    ] as const
  ).filter(({ pieces }) => isChanged(pieces));
  return isChanged(action) || fields.length > 0 ? { kind: 'changed', step, before, action, fields } : { kind: 'same', step };
}

function compareEntries(before: string[], after: string[]): Piece[] {
  return align(before, after, (one, other) => one === other).map(([old, entry]) => pieceOf(old, entry));
}

export function compareWords(before: string, after: string): Piece[] {
  const pieces = align(wordsOf(before), wordsOf(after), (one, other) => one === other).map(([old, word]) => pieceOf(old, word));
  return joined(pieces);
}

function pieceOf(before: string | undefined, after: string | undefined): Piece {
  if (before !== undefined && after !== undefined) return { text: after, change: 'same' };
  return after !== undefined ? { text: after, change: 'added' } : { text: before ?? '', change: 'removed' };
}

/** Words with the space after them; characters of scripts that put no spaces stand alone. */
function wordsOf(text: string): string[] {
  return text.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[^\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+\s*|\s+/gu) ?? [];
}

function joined(pieces: Piece[]): Piece[] {
  const runs: Piece[] = [];
  for (const piece of pieces) {
    const last = runs.at(-1);
    if (last?.change === piece.change) last.text += piece.text;
    else runs.push({ ...piece });
  }
  return runs;
}

function likeness(one: string, other: string): number {
  const [left, right] = [wordsOf(one).map(bare), wordsOf(other).map(bare)];
  const common = align(left, right, (a, b) => a === b).filter(([a, b]) => a !== undefined && b !== undefined).length;
  return (2 * common) / Math.max(1, left.length + right.length);
}

function bare(word: string): string {
  return word.trim().toLowerCase();
}
