// The client's view of a chat: created from a snapshot, updated by `reduce`.
import type { Chat, ChatState, Message, PendingQuestion, Plan, Problem, QuestionOutcome, RoleName, RunOutcome } from '@/lib/api/types';

/** A streaming answer. */
export interface LiveText {
  messageId: string;
  text: string;
  /** How many characters `text` has, as the server counts them. */
  characters: number;
  reasoning: string;
  role: RoleName;
}

export interface LastRun {
  outcome: RunOutcome;
  error: Problem | null;
  openSteps: number[];
}

export interface ChatView {
  chat: Chat;
  /** In the order in which they happened. */
  messages: Message[];
  /** There are older messages on the server. */
  hasOlder: boolean;
  /** By the message's id, in the order in which they began. */
  live: Record<string, LiveText>;
  /** The model's reasoning before a message, by its id, if it was streamed to us. */
  reasoning: Record<string, string>;
  /** The output of running commands, by call. */
  outputs: Record<string, string>;
  question: PendingQuestion | null;
  /** The results of questions that ended since the snapshot. */
  resolved: Record<string, QuestionOutcome>;
  /** The newest content of plan files that changed since the snapshot, by path. */
  plans: Record<string, Plan>;
  /** The message whose words were taken for an order to execute, which the user may confirm. */
  suggestion: string | null;
  lastRun: LastRun | null;
  /** Ids of the user's messages that the run has not read yet. */
  queued: string[];
  isDeleted: boolean;
  /** The number of the newest event in here. */
  seq: number;
  /** Data that no event contains; the owner of the view fetches it. */
  missing: 'nothing' | 'progress' | 'everything';
}

export const BUSY: Record<ChatState, boolean> = { idle: false, failed: false, thinking: true, exploring: true, planning: true, executing: true, awaiting_answer: false, stopping: true };

/** A run is doing something; waiting for an answer is not. */
export const isBusy = (view: ChatView): boolean => BUSY[view.chat.state];
/** Leaving act mode would end something. */
export const isInProgress = (view: ChatView): boolean => isBusy(view) || view.chat.state === 'awaiting_answer';
