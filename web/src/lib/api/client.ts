// The HTTP API, one function per call. Answers whose parts the description leaves open are read as the types of `types.ts`.
import { addressOf, call, request } from './request';
import type { AuditEntry, AuditKind, Chat, Effort, FileContent, Finding, Json, JsonObject, Message, Mode, RevertAnswer, RoleName, Snapshot, ToolAnswer } from './types';

export { ApiError } from './request';

/** A part of a list, and where the next part begins. */
interface Page<T> {
  items: T[];
  next: string | null;
}

const inChat = (wid: string, cid: string) => ({ path: { wid, cid } });
const inWorkspace = (wid: string) => ({ path: { wid } });

/** A credential: the server's token, or an account. */
type Offer = { token: string } | { name: string; password: string };
export type Answers = { [name: string]: Json };
/** Selects audit rows; without a workspace, from all of them. */
export type AuditFilter = { workspace?: string; from?: string; to?: string; kind?: string; model?: string; role?: string; chat?: string };
export type ChatChange = { title?: string; agent_role?: RoleName; agent_mode?: Mode; confirm?: boolean; model?: string | null; effort?: Effort | null };
/** What goes out as one message; images by the ids that the server gave, with the names of their files. */
interface Sent {
  content: string;
  images: { id: string; name: string }[];
}

type AuditQuery = Omit<AuditFilter, 'workspace' | 'kind' | 'role'> & { kind?: AuditKind; role?: RoleName };
/** The URL may contain an invalid kind; the server refuses it. */
const auditQuery = ({ workspace: _, ...filter }: AuditFilter) => filter as AuditQuery;

/** The description names only what the server reads; what else a client sends comes back as `metadata.client`. */
const named = (images: Sent['images']) => ({ image_names: images.map(({ name }) => name) }) as object;

export const api = {
  me: () => call('get', '/me'),
  login: (offer: Offer) => call('post', '/auth/login', { body: offer }),
  logout: () => call('post', '/auth/logout'),
  roles: () => call('get', '/roles'),
  workspaces: () => call('get', '/workspaces'),
  chats: (workspace: string) => call('get', '/workspaces/{wid}/chats', inWorkspace(workspace)) as Promise<Chat[]>,
  createChat: (workspace: string, body: { title?: string; agent_mode?: Mode } = {}) => call('post', '/workspaces/{wid}/chats', { ...inWorkspace(workspace), body }) as Promise<Chat>,
  changeChat: (workspace: string, chat: string, body: ChatChange) => call('patch', '/workspaces/{wid}/chats/{cid}', { ...inChat(workspace, chat), body }) as Promise<Chat>,
  deleteChat: (workspace: string, chat: string) => call('delete', '/workspaces/{wid}/chats/{cid}', inChat(workspace, chat)),
  snapshot: (workspace: string, chat: string) => call('get', '/workspaces/{wid}/chats/{cid}/snapshot', inChat(workspace, chat)) as Promise<Snapshot>,
  /** Files of the plan that changed since it was written. */
  drift: (workspace: string, chat: string) => call('get', '/workspaces/{wid}/chats/{cid}/drift', inChat(workspace, chat)),
  frontmatter: (workspace: string, chat: string) => call('get', '/workspaces/{wid}/chats/{cid}/frontmatter', inChat(workspace, chat)) as Promise<JsonObject>,
  /** Newest first. */
  messages: (workspace: string, chat: string, before: string, limit: number) =>
    call('get', '/workspaces/{wid}/chats/{cid}/messages', { ...inChat(workspace, chat), query: { before, limit } }) as Promise<Message[]>,
  body: (wid: string, cid: string, mid: string) => call('get', '/workspaces/{wid}/chats/{cid}/messages/{mid}/body', { path: { wid, cid, mid } }),
  /** The models that a chat can have, and those that are configured. */
  models: (workspace: string) => call('get', '/workspaces/{wid}/models', inWorkspace(workspace)),
  uploadImage: (workspace: string, chat: string, image: Blob) => call('post', '/workspaces/{wid}/chats/{cid}/images', { ...inChat(workspace, chat), body: image }),
  /** The address of an image that came with a message. */
  imageOfChat: (wid: string, cid: string, iid: string) => addressOf('/workspaces/{wid}/chats/{cid}/images/{iid}', { wid, cid, iid }),
  /** The address of an image of the workspace. */
  imageOfWorkspace: (wid: string, path: string) => addressOf('/workspaces/{wid}/files/image', { wid }, { path }),
  send: (workspace: string, chat: string, { content, images }: Sent, key: string) =>
    call('post', '/workspaces/{wid}/chats/{cid}/messages', {
      ...inChat(workspace, chat),
      body: { content, ...(images.length > 0 && { images: images.map(({ id }) => id), metadata: named(images) }) },
      headers: { 'idempotency-key': key },
    }),
  answer: (workspace: string, chat: string, question_id: string, answers: Answers, comment = '') =>
    call('post', '/workspaces/{wid}/chats/{cid}/messages', { ...inChat(workspace, chat), body: { content: comment, metadata: { question_answer: { question_id, answers } } } }),
  execute: (workspace: string, chat: string, plan_file?: string) =>
    call('post', '/workspaces/{wid}/chats/{cid}/execute', { ...inChat(workspace, chat), body: plan_file ? { plan_file } : {} }),
  /** Retries the failed run. */
  retry: (workspace: string, chat: string) => call('post', '/workspaces/{wid}/chats/{cid}/retry', inChat(workspace, chat)),
  stop: (workspace: string, chat: string) => call('post', '/workspaces/{wid}/chats/{cid}/stop', inChat(workspace, chat)),
  fork: (workspace: string, chat: string, message_id: string) => call('post', '/workspaces/{wid}/chats/{cid}/fork', { ...inChat(workspace, chat), body: { message_id } }),
  unqueue: (wid: string, cid: string, mid: string) => call('delete', '/workspaces/{wid}/chats/{cid}/queue/{mid}', { path: { wid, cid, mid } }),
  /** A page of the files; what each message changed is on the first. */
  changes: (workspace: string, chat: string, cursor?: string) => call('get', '/workspaces/{wid}/chats/{cid}/changes', { ...inChat(workspace, chat), query: cursor ? { cursor } : {} }),
  /** From this message on. A preview does nothing. */
  revert: (workspace: string, chat: string, message_id: string, options: { preview?: boolean; skip_conflicts?: boolean } = {}) =>
    call('post', '/workspaces/{wid}/chats/{cid}/revert', { ...inChat(workspace, chat), body: { message_id, ...options } }) as Promise<RevertAnswer>,
  context: (workspace: string, chat: string) => call('get', '/workspaces/{wid}/chats/{cid}/context', inChat(workspace, chat)),
  compact: (workspace: string, chat: string) => call('post', '/workspaces/{wid}/chats/{cid}/compact', inChat(workspace, chat)),
  /** Newest first. */
  audit: async (filter: AuditFilter, limit: number, cursor?: string): Promise<Page<AuditEntry>> => {
    const query = { ...auditQuery(filter), limit, ...(cursor && { cursor }) };
    const { answer, response } = await (filter.workspace ? request('get', '/workspaces/{wid}/audit', { ...inWorkspace(filter.workspace), query }) : request('get', '/audit', { query }));
    return { items: answer as AuditEntry[], next: response.headers.get('x-next-cursor') };
  },
  /** `offset`: how many minutes our clock is ahead of UTC. */
  auditCounts: (filter: AuditFilter, offset: number) => {
    const query = { ...auditQuery(filter), offset };
    return filter.workspace ? call('get', '/workspaces/{wid}/audit/counts', { ...inWorkspace(filter.workspace), query }) : call('get', '/audit/counts', { query });
  },
  adherence: (filter: AuditFilter) => {
    const query = auditQuery(filter);
    return filter.workspace ? call('get', '/workspaces/{wid}/audit/adherence', { ...inWorkspace(filter.workspace), query }) : call('get', '/audit/adherence', { query });
  },
  files: (workspace: string, path: string) => call('get', '/workspaces/{wid}/files', { ...inWorkspace(workspace), query: { path } }),
  fileContent: (workspace: string, path: string): Promise<FileContent> => call('get', '/workspaces/{wid}/files/content', { ...inWorkspace(workspace), query: { path } }),
  lintPlan: (workspace: string, text: string) => call('post', '/workspaces/{wid}/plans/lint', { ...inWorkspace(workspace), body: { text } }) as Promise<{ findings: Finding[] }>,
  /** As the user, so nothing asks; the chat's role still limits what is allowed. */
  runTool: (workspace: string, tool: string, args: JsonObject, chat_id: string) =>
    call('post', '/workspaces/{wid}/tools', { ...inWorkspace(workspace), body: { tool, args, chat_id } }) as Promise<ToolAnswer>,
};
