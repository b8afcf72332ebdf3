// The calls of the inbox, one function each.
import { call } from './request';
import type { Chat, RoleName } from './types';
import type { components } from './schema';

type Schemas = components['schemas'];
export type Inbox = Schemas['InboxView'];
export type InboxChat = Schemas['InboxChat'];
export type InboxQuestion = Schemas['InboxQuestion'];
export type ViewedFile = Schemas['ViewedView'];

const at = (wid: string, cid: string) => ({ path: { wid, cid } });

export const inboxApi = {
  inbox: () => call('get', '/inbox'),
  /** Without a role: the workspace's default role. */
  createChat: (wid: string, agent_role?: RoleName) => call('post', '/workspaces/{wid}/chats', { path: { wid }, body: agent_role ? { agent_role } : {} }) as Promise<Chat>,
  mark: (workspace: string, chat: string, marks: { pinned?: boolean; archived?: boolean }) => call('patch', '/workspaces/{wid}/chats/{cid}', { ...at(workspace, chat), body: marks }) as Promise<Chat>,
  viewed: (workspace: string, chat: string) => call('get', '/workspaces/{wid}/chats/{cid}/viewed', at(workspace, chat)),
  view: (workspace: string, chat: string, path: string, after_sha256: string | null, viewed: boolean) => call('put', '/workspaces/{wid}/chats/{cid}/viewed', { ...at(workspace, chat), body: { path, after_sha256, viewed }, outlivesPage: true }),
};
