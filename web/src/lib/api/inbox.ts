// The calls of the inbox, one function each.
import { call } from './client';
import type { Chat, RoleName } from './types';
import type { components } from './schema';

type Schemas = components['schemas'];
export type Inbox = Schemas['Inbox'];
export type InboxChat = Schemas['InboxChat'];
export type InboxQuestion = Schemas['InboxQuestion'];
export type ViewedFile = Schemas['ViewedView'];

const at = (workspace: string, chat: string) => `/workspaces/${workspace}/chats/${chat}`;

export const inboxApi = {
  inbox: () => call<Inbox>('GET', '/inbox'),
  /** Without a role: in the one that the workspace has for new chats. */
  createChat: (workspace: string, agent_role?: RoleName) => call<Chat>('POST', `/workspaces/${workspace}/chats`, agent_role ? { agent_role } : {}),
  mark: (workspace: string, chat: string, marks: { pinned?: boolean; archived?: boolean }) => call<Chat>('PATCH', at(workspace, chat), marks),
  viewed: (workspace: string, chat: string) => call<ViewedFile[]>('GET', `${at(workspace, chat)}/viewed`),
  view: (workspace: string, chat: string, path: string, after_sha256: string | null, viewed: boolean) => call<void>('PUT', `${at(workspace, chat)}/viewed`, { path, after_sha256, viewed }),
};
