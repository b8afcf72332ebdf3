// The API's types under the names that this code uses, all derived from the OpenAPI document.
import type { components } from './schema';

type Schemas = components['schemas'];
/** Without what the description leaves open. */
type Known<T> = { [K in keyof T as string extends K ? never : K]: T[K] };

export type Mode = Schemas['Mode'];
export type RoleName = Schemas['Role'];
export type Effort = Schemas['Depth'];
export type MessageType = Schemas['MessageType'];
export type ChatState = Schemas['ChatState'];
export type StepStatus = Schemas['StepStatus'];
export type Severity = Schemas['Severity'];
export type QuestionKind = Schemas['QuestionKind'];
export type QuestionOutcome = Schemas['QuestionOutcome'];
export type RunOutcome = Schemas['RunOutcome'];
export type SwitchedBy = Schemas['SwitchedBy'];

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

export type StepProgress = Schemas['StepProgress'];
export type Chat = Omit<Schemas['ChatView'], 'app_data' | 'pending_question'> & { pending_question: PendingQuestion | null };
/** What the metadata hold depends on the type of message; who reads a part of it says what it is. */
export type Message = Omit<Schemas['Message'], 'metadata'> & { metadata: { [key: string]: unknown } };
export type PlanStep = Known<Schemas['PlanStep']>;
export type Plan = Omit<Known<Schemas['Plan']>, 'steps'> & { steps: PlanStep[] };
export type Snapshot = Omit<Schemas['Snapshot'], 'chat' | 'messages' | 'pending_question' | 'last_run'> & { last_run: EventData['run_finished'] | null; chat: Chat; messages: Message[]; pending_question: PendingQuestion | null };
export type Role = Schemas['RoleView'];
export type RolePermissions = Schemas['RolePermissions'];
export type Workspace = Schemas['WorkspaceView'];
export type WorkspaceSettings = Schemas['WorkspaceSettings'];
export type Right = Schemas['Right'];
export type Rules = Schemas['RulesView'];
export type Rule = Schemas['Rule'];
export type ModelSources = Schemas['ModelSources'];
export type ModelProvider = Schemas['ProviderView'];
export type TrustItem = Omit<Schemas['TrustItem'], 'value'> & { value: Json };
export type McpServer = Schemas['ServerReport'];
export type Trust = Omit<Schemas['Trust'], 'items'> & { items: TrustItem[] };
export type Token = Schemas['TokenRow'];
export type Account = Schemas['AccountView'];
export type Member = Schemas['MemberRow'];
export type Found = Omit<Schemas['Found'], 'message'> & { message: Message };
export type Me = Schemas['Me'];
/** `UNREACHABLE` is set by the client: the server did not answer. */
export type Problem = Omit<Schemas['Problem'], 'code' | 'details'> & { code: Schemas['ErrorCode'] | 'UNREACHABLE'; details?: { fields?: Record<string, string>; [key: string]: unknown } };
/** From a snapshot or an event; only the first says who asked. */
export type PendingQuestion = Omit<Schemas['Pending'], 'questions' | 'call' | 'plan' | 'agent_role' | 'delegation'> & { questions: Question[]; call?: CallOfQuestion; plan?: PlanOfQuestion };
type Question = Omit<Schemas['Question'], 'schema' | 'default' | 'buttons'> & { schema: JsonObject; default?: Json; buttons?: QuestionButton[] };
type QuestionButton = Omit<Schemas['Button'], 'value'> & { value: Json };
interface PlanOfQuestion {
  plan_file: string;
  revision: number;
  sha256: string;
  goal: string;
  steps: PlanStep[];
}

interface CallOfQuestion {
  call_id: string;
  tool: string;
  args: JsonObject;
  effects: Json[];
  reason: string;
}

// A chat's file changes, and the preview of a revert.
export type Image = Schemas['Image'];
export type ChangedFile = Schemas['ChangedFile'];
export type FileDiff = Schemas['FileDiff'];
export type CallChanges = Schemas['CallChanges'];
export type Changes = Schemas['Changes'];
export type RevertStep = Schemas['Step'];
export type RevertedFile = Known<Schemas['RevertedFile']>;
export type ReviewComment = Known<Schemas['CommentBody']>;
export type Grant = Schemas['GrantView'];
export type PlanFile = Schemas['PlanFileView'];
export type ExecuteBody = Known<Schemas['ExecuteBody']>;
export type RevertAnswer = Omit<Schemas['RevertAnswer'], 'message'> & { message: Message | null };

export type FileNode = Schemas['FileNode'];
export type FileContent = Schemas['FileContent'];
export type Context = Schemas['ContextView'];
export type ContextPart = Schemas['ContextPart'];

export type AuditKind = Schemas['AuditKind'];
export type AuditEntry = Omit<Schemas['AuditEntry'], 'details'> & { details: JsonObject };
export type AuditCount = Schemas['AuditCount'];
export type Adherence = Schemas['AdherenceView'];

/** The linter's findings about a plan file. */
export interface Finding {
  line: number;
  column: number;
  message: string;
  gravity: 'error' | 'warning';
}

export interface ToolAnswer {
  success: boolean;
  result?: Json;
  error?: Problem;
}

// The events of a chat, by type. Those that carry what is loosened above carry it so.
type Envelope = Schemas['Envelope'];
export type EventType = Envelope['type'];
type Told = { [T in EventType]: Extract<Envelope, { type: T }>['data'] };
export type EventData = Omit<Told, keyof Loosened> & Loosened;
interface Loosened {
  message_created: { message: Message };
  message_updated: { message: Message };
  question_pending: PendingQuestion;
  run_finished: Omit<Told['run_finished'], 'error'> & { error?: Problem };
  chat_created: { chat: Chat };
}
export type ChatEvent = { [T in EventType]: { type: T; data: EventData[T]; seq: number; at: string } }[EventType];
