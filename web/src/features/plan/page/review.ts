// What the parts of the plan's page share.
import { createContext, useContext } from 'react';
import type { Plan, Revision } from '../model';
import type { DraftOfChat } from '@/lib/chat/planDrafts';
import type { StepFinding } from './findings';
import type { Note } from './notes';
import type { RunChoice } from './run';
import type { FileSign } from './scope';
import type { useEdits } from './useEdits';

export interface PlanReview {
  shown: Revision;
  newest: Revision;
  isNewest: boolean;
  /** With the status that each step has now. */
  plan: Plan;
  draft: DraftOfChat;
  choice: RunChoice;
  /** Steps that a run under way leaves out. */
  excluded: ReadonlySet<number>;
  findings: StepFinding[];
  notes: { answered: Note[]; waiting: Note[]; on: number | null };
  edits: ReturnType<typeof useEdits>;
  mayComment: boolean;
  mayEdit: boolean;
  mayChoose: boolean;
  isOutline: boolean;
  isPhone: boolean;
  /** The step that keys are for. */
  current: number;
  setCurrent: (step: number) => void;
  signOf: (path: string) => FileSign;
  preview: (path: string) => void;
}

export const ReviewContext = createContext<PlanReview | null>(null);

export function useReview(): PlanReview {
  const review = useContext(ReviewContext);
  if (!review) throw new Error('used outside of the page of a plan');
  return review;
}
