// The HTTP API, one function per call.
import type {
  Adherence, AuditCount, AuditEntry, Changes, Chat, Context, FileContent, FileNode, Finding, Json, JsonObject, Me, Message, Mode, Problem, RevertAnswer, Role, RoleName,
  Snapshot, ToolAnswer, Workspace,
} from './types';

/** What the server refused, in its own words. `status` 0: it could not be reached. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly problem: Problem,
  ) {
    super(problem.message);
  }
  get code(): string {
    return this.problem.code;
  }
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export async function call<T>(method: Method, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<T> {
  return (await ask<T>(method, path, body, headers)).answer;
}

/** A part of a list, and where the next part begins. */
export interface Page<T> {
  items: T[];
  next: string | null;
}

async function page<T>(path: string): Promise<Page<T>> {
  const { answer, response } = await ask<T[]>('GET', path);
  return { items: answer, next: response.headers.get('x-next-cursor') };
}

async function ask<T>(method: Method, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<{ answer: T; response: Response }> {
  const response = await fetch(`/api/v1${path}`, {
    method,
    headers: {
      // With a session's cookie the server takes no change without it; foreign pages can't send it.
      'x-planwright-csrf': '1',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch((reason: unknown) => {
    throw new ApiError(0, { code: 'UNREACHABLE', message: String(reason), retryable: true });
  });
  if (response.status === 204) return { answer: undefined as T, response };
  const answer: unknown = await response.json().catch(() => null);
  if (response.ok) return { answer: answer as T, response };
  const problem = (answer as { error?: Problem } | null)?.error;
  throw new ApiError(response.status, problem ?? { code: 'INTERNAL', message: `HTTP ${response.status}`, retryable: response.status >= 500 });
}

/** What is said of the query; what is empty is not asked for. */
const query = (values: Record<string, string | number | undefined>) => {
  const said = Object.entries(values).flatMap(([name, value]) => (value === undefined || value === '' ? [] : [[name, String(value)]]));
  return said.length > 0 ? `?${new URLSearchParams(said)}` : '';
};
const chatPath = (workspace: string, chat: string) => `/workspaces/${workspace}/chats/${chat}`;

const auditPath = (what: string, { workspace, ...filter }: AuditFilter, more: Record<string, string | number | undefined> = {}) =>
  `${workspace ? `/workspaces/${workspace}` : ''}/audit${what}${query({ ...filter, ...more })}`;

/** What signs in: the server's token, or an account of it. */
export type Offer = { token: string } | { name: string; password: string };
export type Answers = { [name: string]: Json };
/** Which rows of the log; of all workspaces where none is named. */
export type AuditFilter = { workspace?: string; from?: string; to?: string; kind?: string; model?: string; role?: string; chat?: string };
export type ChatChange = { title?: string; agent_role?: RoleName; agent_mode?: Mode; confirm?: boolean };

export const api = {
  me: () => call<Me>('GET', '/me'),
  login: (offer: Offer) => call<unknown>('POST', '/auth/login', offer),
  logout: () => call<void>('POST', '/auth/logout'),
  roles: () => call<Role[]>('GET', '/roles'),
  workspaces: () => call<Workspace[]>('GET', '/workspaces'),
  chats: (workspace: string) => call<Chat[]>('GET', `/workspaces/${workspace}/chats`),
  createChat: (workspace: string, body: { title?: string; agent_mode?: Mode } = {}) => call<Chat>('POST', `/workspaces/${workspace}/chats`, body),
  changeChat: (workspace: string, chat: string, change: ChatChange) => call<Chat>('PATCH', chatPath(workspace, chat), change),
  deleteChat: (workspace: string, chat: string) => call<void>('DELETE', chatPath(workspace, chat)),
  snapshot: (workspace: string, chat: string) => call<Snapshot>('GET', `${chatPath(workspace, chat)}/snapshot`),
  /** Files of the plan that changed since it was written. */
  drift: (workspace: string, chat: string) => call<{ files: unknown[] }>('GET', `${chatPath(workspace, chat)}/drift`),
  frontmatter: (workspace: string, chat: string) => call<JsonObject>('GET', `${chatPath(workspace, chat)}/frontmatter`),
  /** Newest first. */
  messages: (workspace: string, chat: string, before: string, limit: number) =>
    call<Message[]>('GET', `${chatPath(workspace, chat)}/messages?before=${before}&limit=${limit}`),
  body: (workspace: string, chat: string, message: string) =>
    call<{ content: string }>('GET', `${chatPath(workspace, chat)}/messages/${message}/body`),
  send: (workspace: string, chat: string, content: string, key: string) =>
    call<{ message: Message }>('POST', `${chatPath(workspace, chat)}/messages`, { content }, { 'idempotency-key': key }),
  answer: (workspace: string, chat: string, question_id: string, answers: Answers, comment = '') =>
    call<{ message: Message }>('POST', `${chatPath(workspace, chat)}/messages`, {
      content: comment,
      metadata: { question_answer: { question_id, answers } },
    }),
  execute: (workspace: string, chat: string, plan_file?: string) =>
    call<Chat>('POST', `${chatPath(workspace, chat)}/execute`, plan_file ? { plan_file } : {}),
  /** Goes on where the last run failed. */
  retry: (workspace: string, chat: string) => call<Chat>('POST', `${chatPath(workspace, chat)}/retry`, {}),
  stop: (workspace: string, chat: string) => call<Chat>('POST', `${chatPath(workspace, chat)}/stop`, {}),
  fork: (workspace: string, chat: string, message_id: string) => call<Chat>('POST', `${chatPath(workspace, chat)}/fork`, { message_id }),
  unqueue: (workspace: string, chat: string, message: string) => call<void>('DELETE', `${chatPath(workspace, chat)}/queue/${message}`),
  /** A page of the files; what each message changed is on the first. */
  changes: (workspace: string, chat: string, cursor?: string) => call<Changes>('GET', `${chatPath(workspace, chat)}/changes${query({ cursor })}`),
  /** From this message on. A preview does nothing. */
  revert: (workspace: string, chat: string, message_id: string, options: { preview?: boolean; skip_conflicts?: boolean } = {}) =>
    call<RevertAnswer>('POST', `${chatPath(workspace, chat)}/revert`, { message_id, ...options }),
  context: (workspace: string, chat: string) => call<Context>('GET', `${chatPath(workspace, chat)}/context`),
  compact: (workspace: string, chat: string) => call<Chat>('POST', `${chatPath(workspace, chat)}/compact`, {}),
  /** Newest first. */
  audit: (filter: AuditFilter, limit: number, cursor?: string) => page<AuditEntry>(auditPath('', filter, { limit, cursor })),
  /** `offset`: how many minutes our clock is ahead of UTC. */
  auditCounts: (filter: AuditFilter, offset: number) => call<AuditCount[]>('GET', auditPath('/counts', filter, { offset })),
  adherence: (filter: AuditFilter) => call<Adherence[]>('GET', auditPath('/adherence', filter)),
  files: (workspace: string, path: string) => call<FileNode>('GET', `/workspaces/${workspace}/files${query({ path })}`),
  fileContent: (workspace: string, path: string) => call<FileContent>('GET', `/workspaces/${workspace}/files/content?path=${encodeURIComponent(path)}`),
  lintPlan: (workspace: string, text: string) => call<{ findings: Finding[] }>('POST', `/workspaces/${workspace}/plans/lint`, { text }),
  /** As the user, so nothing asks; the chat's role still says what may be done. */
  runTool: (workspace: string, tool: string, args: JsonObject, chat_id: string) =>
    call<ToolAnswer>('POST', `/workspaces/${workspace}/tools`, { tool, args, chat_id }),
};
