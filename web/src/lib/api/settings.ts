// The calls of settings, set-up and search, one function each.
import { call } from './request';
import type { Found, Message, Right, RoleName, Trust, WorkspaceSettings } from './types';

const at = (wid: string) => ({ path: { wid } });
/** Null removes a setting. */
export type SettingsChange = { [K in keyof WorkspaceSettings]?: WorkspaceSettings[K] | null };

export const settingsApi = {
  models: () => call('get', '/models'),
  testModel: (model: string) => call('post', '/models/test', { body: { model } }),
  addWorkspace: (path: string, name?: string) => call('post', '/workspaces', { body: name ? { path, name } : { path } }),
  makeSample: () => call('post', '/sample'),
  changeWorkspace: (workspace: string, change: { name?: string; settings?: SettingsChange }) => call('patch', '/workspaces/{wid}', { ...at(workspace), body: change }),
  forgetWorkspace: (workspace: string) => call('delete', '/workspaces/{wid}', at(workspace)),
  rules: (workspace: string) => call('get', '/workspaces/{wid}/rules', at(workspace)),
  trust: (workspace: string) => call('get', '/workspaces/{wid}/trust', at(workspace)) as Promise<Trust>,
  acceptTrust: (workspace: string, sha256: string) => call('post', '/workspaces/{wid}/trust', { ...at(workspace), body: { sha256 } }) as Promise<Trust>,
  /** The known state; starts no server. */
  servers: (workspace: string) => call('get', '/workspaces/{wid}/mcp', at(workspace)),
  checkServers: (workspace: string) => call('post', '/workspaces/{wid}/mcp', at(workspace)),
  members: (workspace: string) => call('get', '/workspaces/{wid}/members', at(workspace)),
  putMember: (workspace: string, name: string, role: Right) => call('post', '/workspaces/{wid}/members', { ...at(workspace), body: { name, role } }),
  removeMember: (wid: string, member: string) => call('delete', '/workspaces/{wid}/members/{member}', { path: { wid, member } }),
  tokens: () => call('get', '/tokens'),
  makeToken: (name: string) => call('post', '/tokens', { body: { name } }),
  removeToken: (tid: string) => call('delete', '/tokens/{tid}', { path: { tid } }),
  changePassword: (password: string, new_password: string) => call('post', '/auth/password', { body: { password, new_password } }),
  /** For admins: everybody with an account. */
  accounts: () => call('get', '/admin/accounts'),
  addAccount: (account: { name: string; password: string; admin: boolean }) => call('post', '/admin/accounts', { body: account }),
  setPassword: (uid: string, password: string) => call('patch', '/admin/accounts/{uid}', { path: { uid }, body: { password } }),
  removeAccount: (uid: string) => call('delete', '/admin/accounts/{uid}', { path: { uid } }),
  tools: (role: RoleName) => call('get', '/tools', { query: { role } }),
  /** Newest first. */
  searchChat: (wid: string, cid: string, q: string) => call('get', '/workspaces/{wid}/chats/{cid}/search', { path: { wid, cid }, query: { q, limit: 100 } }) as Promise<Message[]>,
  searchAll: (q: string) => call('get', '/search', { query: { q, limit: 20 } }) as Promise<Found[]>,
  /** Paths, the best first. */
  findFiles: (workspace: string, q: string, limit: number) => call('get', '/workspaces/{wid}/files/find', { ...at(workspace), query: { q, limit } }),
};
