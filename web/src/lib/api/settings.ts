// The calls of settings, set-up and search, one function each.
import { call } from './client';
import type { Account, Found, McpServer, Member, Message, ModelSources, NewToken, Right, RoleName, Rules, TestAnswer, Token, ToolView, Trust, Workspace, WorkspaceSettings } from './types';

const at = (workspace: string) => `/workspaces/${workspace}`;
/** Null takes a setting away. */
export type SettingsChange = { [K in keyof WorkspaceSettings]?: WorkspaceSettings[K] | null };

export const settingsApi = {
  models: () => call<ModelSources>('GET', '/models'),
  testModel: (model: string) => call<TestAnswer>('POST', '/models/test', { model }),
  addWorkspace: (path: string, name?: string) => call<Workspace>('POST', '/workspaces', name ? { path, name } : { path }),
  makeSample: () => call<Workspace>('POST', '/sample'),
  changeWorkspace: (workspace: string, change: { name?: string; settings?: SettingsChange }) => call<Workspace>('PATCH', at(workspace), change),
  forgetWorkspace: (workspace: string) => call<void>('DELETE', at(workspace)),
  rules: (workspace: string) => call<Rules>('GET', `${at(workspace)}/rules`),
  trust: (workspace: string) => call<Trust>('GET', `${at(workspace)}/trust`),
  acceptTrust: (workspace: string, sha256: string) => call<Trust>('POST', `${at(workspace)}/trust`, { sha256 }),
  /** As far as they are known; starts none. */
  servers: (workspace: string) => call<McpServer[]>('GET', `${at(workspace)}/mcp`),
  checkServers: (workspace: string) => call<McpServer[]>('POST', `${at(workspace)}/mcp`),
  members: (workspace: string) => call<Member[]>('GET', `${at(workspace)}/members`),
  putMember: (workspace: string, name: string, role: Right) => call<Member>('POST', `${at(workspace)}/members`, { name, role }),
  removeMember: (workspace: string, name: string) => call<void>('DELETE', `${at(workspace)}/members/${encodeURIComponent(name)}`),
  tokens: () => call<Token[]>('GET', '/tokens'),
  makeToken: (name: string) => call<NewToken>('POST', '/tokens', { name }),
  removeToken: (id: string) => call<void>('DELETE', `/tokens/${id}`),
  changePassword: (password: string, new_password: string) => call<void>('POST', '/auth/password', { password, new_password }),
  /** For admins: everybody with an account. */
  accounts: () => call<Account[]>('GET', '/admin/accounts'),
  addAccount: (account: { name: string; password: string; admin: boolean }) => call<Account>('POST', '/admin/accounts', account),
  setPassword: (id: string, password: string) => call<void>('PATCH', `/admin/accounts/${id}`, { password }),
  removeAccount: (id: string) => call<void>('DELETE', `/admin/accounts/${id}`),
  tools: (role: RoleName) => call<ToolView[]>('GET', `/tools?role=${role}`),
  /** Newest first. */
  searchChat: (workspace: string, chat: string, text: string) => call<Message[]>('GET', `${at(workspace)}/chats/${chat}/search?limit=100&q=${encodeURIComponent(text)}`),
  searchAll: (text: string) => call<Found[]>('GET', `/search?limit=20&q=${encodeURIComponent(text)}`),
  /** Paths, the best first. */
  findFiles: (workspace: string, typed: string, limit: number) => call<string[]>('GET', `${at(workspace)}/files/find?limit=${limit}&q=${encodeURIComponent(typed)}`),
};
