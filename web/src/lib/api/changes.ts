// The calls of the page for changes and of approvals, one function each.
import { call } from './request';
import type { ChangedFile, Changes, RevertAnswer } from './types';

/** One file's diff. `hunks` has, for each hunk of the diff, the numbers of the changes in it, by which they are taken back. */
type FileDiff = ChangedFile & { after_sha256: string | null; hunks: { numbers: number[] }[] };
/** A file to take back, wholly or some of its hunks; refused when it is not what was shown. */
export interface TakenFile {
  path: string;
  after_sha256: string | null;
  hunks?: number[];
}
/** With what would become of each file, in a preview. */
type TakenBack = RevertAnswer & { diffs?: { path: string; diff: string }[] };
export interface Grant {
  id: string;
  tool: string;
  folder: string;
  at?: string | null;
  by?: string | null;
}
export interface SentComment {
  id: string;
  step?: number;
  path?: string;
  lines?: [number, number];
  quote: string;
  text: string;
}

const inChat = (wid: string, cid: string) => ({ path: { wid, cid } });
const loose = call as unknown as (method: string, path: string, options: object) => Promise<never>;

export const changesApi = {
  /** A page of the changed files, without their diffs. */
  files: (workspace: string, chat: string, cursor?: string): Promise<Changes> => call('get', '/workspaces/{wid}/chats/{cid}/changes', { ...inChat(workspace, chat), query: { summary: true, ...(cursor && { cursor }) } }),
  file: (workspace: string, chat: string, path: string, context: number): Promise<FileDiff> => loose('get', '/workspaces/{wid}/chats/{cid}/changes/file', { ...inChat(workspace, chat), query: { path, context } }),
  takeBack: (workspace: string, chat: string, files: TakenFile[], options: { preview?: boolean; skip_conflicts?: boolean } = {}): Promise<TakenBack> =>
    loose('post', '/workspaces/{wid}/chats/{cid}/revert', { ...inChat(workspace, chat), body: { files, ...options } }),
  sendComments: (workspace: string, chat: string, content: string, comments: SentComment[], key: string): Promise<unknown> =>
    loose('post', '/workspaces/{wid}/chats/{cid}/messages', { ...inChat(workspace, chat), body: { content, comments }, headers: { 'idempotency-key': key } }),
  grants: (workspace: string, chat: string): Promise<Grant[]> => loose('get', '/workspaces/{wid}/chats/{cid}/grants', inChat(workspace, chat)),
  revoke: (wid: string, cid: string, gid: string): Promise<unknown> => loose('delete', '/workspaces/{wid}/chats/{cid}/grants/{gid}', { path: { wid, cid, gid } }),
};
