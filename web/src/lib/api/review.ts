// The calls of a review: a plan's file and its edits, changed files, comments, taking back, and what was always allowed.
import { call } from './request';
import type { Changes, ExecuteBody, FileDiff, Grant, Plan, PlanFile, RevertAnswer, RevertedFile, ReviewComment } from './types';

const inChat = (wid: string, cid: string) => ({ path: { wid, cid } });

export const reviewApi = {
  plan: (workspace: string, chat: string): Promise<PlanFile> => call('get', '/workspaces/{wid}/chats/{cid}/plan', inChat(workspace, chat)),
  /** The user's own next version; refused when `base_sha256` is not the newest one. */
  editPlan: (workspace: string, chat: string, content: Plan, base_sha256: string) => call('put', '/workspaces/{wid}/chats/{cid}/plan', { ...inChat(workspace, chat), body: { content, base_sha256 } }),
  execute: (workspace: string, chat: string, body: ExecuteBody) => call('post', '/workspaces/{wid}/chats/{cid}/execute', { ...inChat(workspace, chat), body }),
  /** Comments on steps or lines, together as one message. */
  sendComments: (workspace: string, chat: string, content: string, comments: ReviewComment[], key: string) =>
    call('post', '/workspaces/{wid}/chats/{cid}/messages', { ...inChat(workspace, chat), body: { content, comments }, headers: { 'idempotency-key': key } }),
  /** A page of the changed files, without their diffs. */
  files: (workspace: string, chat: string, cursor?: string): Promise<Changes> => call('get', '/workspaces/{wid}/chats/{cid}/changes', { ...inChat(workspace, chat), query: { summary: true, ...(cursor && { cursor }) } }),
  file: (workspace: string, chat: string, path: string, context: number): Promise<FileDiff> => call('get', '/workspaces/{wid}/chats/{cid}/changes/file', { ...inChat(workspace, chat), query: { path, context } }),
  takeBack: (workspace: string, chat: string, files: RevertedFile[], options: { preview?: boolean; skip_conflicts?: boolean } = {}): Promise<RevertAnswer> =>
    call('post', '/workspaces/{wid}/chats/{cid}/revert', { ...inChat(workspace, chat), body: { files, ...options } }),
  grants: (workspace: string, chat: string): Promise<Grant[]> => call('get', '/workspaces/{wid}/chats/{cid}/grants', inChat(workspace, chat)),
  revoke: (wid: string, cid: string, gid: string) => call('delete', '/workspaces/{wid}/chats/{cid}/grants/{gid}', { path: { wid, cid, gid } }),
};
