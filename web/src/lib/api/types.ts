// What the server sends and takes.

export type Mode = 'plan' | 'act';
export type RoleName = 'planner' | 'actor' | 'reviewer' | 'commander' | 'designer' | 'tester';
export type Author = 'user' | 'assistant' | 'tool' | 'system';
export type MessageType = 'text' | 'plan' | 'question' | 'tool_call' | 'tool_result';
export type ChatState = 'idle' | 'thinking' | 'exploring' | 'planning' | 'executing' | 'awaiting_answer' | 'stopping' | 'failed';
export type StepStatus = 'pending' | 'in_progress' | 'done' | 'skipped';
export type Severity = 'minor' | 'major' | 'critical';
export type QuestionKind = 'user' | 'plan_approval' | 'tool_approval';
export type QuestionOutcome = 'answered' | 'superseded' | 'stopped';
export type RunOutcome = 'done' | 'stopped' | 'blocked' | 'failed';
export type SwitchedBy = 'user' | 'intent' | 'approval' | 'auto';
export type CallStatus = 'proposed' | 'awaiting_approval' | 'running' | 'done' | 'denied' | 'failed' | 'blocked';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

export interface ChatConfig {
  agent_role: RoleName;
  agent_mode: Mode;
  mode: 'plan' | 'build';
  plan_file: string | null;
}

export interface StepProgress {
  step_number: number;
  action: string;
  status: StepStatus;
  note?: string;
}

export interface Progress {
  plan_file: string;
  done: number;
  skipped: number;
  total: number;
  steps: StepProgress[];
}

export interface Usage {
  input_tokens: number;
  output_tokens: number;
  cached_tokens: number;
  cost: number;
  context_tokens: number;
}

export interface Chat {
  id: string;
  workspace_id: string;
  title: string;
  config: ChatConfig;
  state: ChatState;
  pending_question: PendingQuestion | null;
  usage: Usage;
  progress: Progress | null;
  created_at: string;
  updated_at: string;
}

export interface Message {
  id: string;
  chat_id: string;
  author: Author;
  agent_role: RoleName | null;
  message_type: MessageType;
  content: string;
  metadata: { [key: string]: unknown };
  created_at: string;
}

export interface PlanStep {
  step_number: number;
  action: string;
  reason: string;
  tools_needed: string[];
  estimated_time?: string;
  files?: string[];
  verify?: string;
  status?: StepStatus;
}

export interface Plan {
  goal: string;
  steps: PlanStep[];
  estimated_total_time?: string;
  risks: string[];
  prerequisites: string[];
  assumptions?: string[];
  validation?: string[];
}

export interface QuestionButton {
  label: string;
  value: Json;
  variant?: 'primary' | 'secondary' | 'danger';
  description?: string;
}

export interface Question {
  name: string;
  question: string;
  schema: JsonObject;
  buttons?: QuestionButton[];
  context?: string;
  default?: Json;
}

export interface PlanOfQuestion {
  plan_file: string;
  revision: number;
  sha256: string;
  goal: string;
  steps: PlanStep[];
}

export interface CallOfQuestion {
  call_id: string;
  tool: string;
  args: JsonObject;
  effects: Json[];
  reason: string;
}

export interface PendingQuestion {
  question_id: string;
  questions: Question[];
  kind: QuestionKind;
  severity: Severity;
  created_at: string;
  plan?: PlanOfQuestion;
  call?: CallOfQuestion;
}

export interface Partial {
  message_id: string;
  text: string;
  agent_role: RoleName;
  delegation?: string;
}

export interface Snapshot {
  chat: Chat;
  messages: Message[];
  pending_question: PendingQuestion | null;
  partial: Partial | null;
  last_event_id: number;
}

export interface Role {
  role: RoleName;
  title: string;
  mode: Mode;
  permissions: RolePermissions;
  can_delegate_to_roles: RoleName[];
  description: string;
  colour: string;
  icon: string;
}

export interface RolePermissions {
  can_read_files: boolean;
  can_write_files: boolean;
  can_create_files: boolean;
  can_delete_files: boolean;
  can_execute_commands: boolean;
  can_write_plans: boolean;
}

export interface Workspace {
  id: string;
  name: string;
  path: string;
  created_at: string;
}

export interface Me {
  user: { name: string };
  version: string;
  auth: 'token' | 'off' | 'users';
  models: { plan?: string | null; act?: string | null };
}

export interface Problem {
  code: string;
  message: string;
  retryable: boolean;
  details?: { fields?: Record<string, string>; [key: string]: unknown };
}

/** What the linter says about a plan's file. */
export interface Finding {
  line: number;
  column: number;
  message: string;
  gravity: 'error' | 'warning';
}

export interface FileContent {
  content: string;
}

export interface ToolAnswer {
  success: boolean;
  result?: Json;
  error?: Problem;
}

// The events of a chat, by type.
export interface EventData {
  message_created: { message: Message };
  message_updated: { message: Message };
  text_delta: { message_id: string; offset: number; text: string };
  reasoning_delta: { message_id: string; offset: number; text: string };
  tool_call: { call_id: string; tool: string; args: JsonObject };
  tool_output: { call_id: string; text: string };
  tool_result: { call_id: string; success: boolean; result?: Json; error?: Problem };
  state_changed: { state: ChatState };
  question_pending: PendingQuestion;
  question_resolved: { question_id: string; outcome: QuestionOutcome };
  mode_changed: ChatConfig & { by: SwitchedBy };
  intent_suggested: { message_id: string };
  plan_updated: { plan_file: string; plan: Plan };
  plan_step: { step_number: number; status: StepStatus; note?: string };
  usage: Usage;
  run_finished: { outcome: RunOutcome; error?: Problem; open_steps?: number[] };
  violation: { code: string; tool: string; agent_role: RoleName };
  chat_updated: { title: string };
  chat_created: { chat: Chat };
  chat_deleted: Record<string, never>;
  reset: Record<string, never>;
}

export type EventType = keyof EventData;
export type ChatEvent = { [T in EventType]: { type: T; data: EventData[T]; seq: number; at: string } }[EventType];
