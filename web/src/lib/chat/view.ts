// What the pages know of a chat: made from a snapshot, kept by `reduce`.
import type { Chat, ChatState, Message, PendingQuestion, Plan, Problem, QuestionOutcome, RoleName, RunOutcome } from '@/lib/api/types';

/** An answer that is being written. */
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
  /** What the model thought before a message, by its id, where we watched it. */
  reasoning: Record<string, string>;
  /** What a running command has printed, by call. */
  outputs: Record<string, string>;
  question: PendingQuestion | null;
  /** How the questions ended that ended while we watched. */
  resolved: Record<string, QuestionOutcome>;
  /** The newest content of plan files that changed while we watched, by path. */
  plans: Record<string, Plan>;
  /** The message whose words were taken for an order to execute, which the user may confirm. */
  suggestion: string | null;
  lastRun: LastRun | null;
  /** Ids of the user's messages that the run has not read yet. */
  queued: string[];
  isDeleted: boolean;
  /** The number of the newest event in here. */
  seq: number;
  /** What no event has told: fetched by whoever holds the view. */
  missing: 'nothing' | 'progress' | 'everything';
}

export const BUSY: Record<ChatState, boolean> = { idle: false, failed: false, thinking: true, exploring: true, planning: true, executing: true, awaiting_answer: false, stopping: true };

/** A run is doing something; waiting for an answer is not. */
export const isBusy = (view: ChatView): boolean => BUSY[view.chat.state];
/** Leaving act mode would end something. */
export const isInProgress = (view: ChatView): boolean => isBusy(view) || view.chat.state === 'awaiting_answer';
