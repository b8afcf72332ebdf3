// The calls of a review: edits of a plan, comments on it, and running some of its steps.
import { call } from './request';
import type { Finding, Plan } from './types';

/** A comment on a step of the plan, or on the plan as a whole. */
interface PlanComment {
  id: string;
  step?: number;
  quote: string;
  text: string;
}

interface ExecuteBody {
  plan_file: string;
  plan_sha256: string;
  /** All of them where it is left out. */
  steps?: number[];
  /** Asks after this one. */
  stop_after?: number;
  /** For the Actor. */
  comment?: string;
}

type Loose = (method: string, path: string, options: { path: Record<string, string>; body?: unknown; headers?: Record<string, string> }) => Promise<unknown>;
const loose = call as unknown as Loose;

/** Of a plan's file as it is now. */
interface PlanFileView {
  sha256: string;
  findings: (Finding & { step: number | null })[];
}

export const reviewApi = {
  plan: (wid: string, cid: string) => loose('get', '/workspaces/{wid}/chats/{cid}/plan', { path: { wid, cid } }) as Promise<PlanFileView>,
  /** The user's own next version; refused when `base_sha256` is not the newest one. */
  editPlan: (wid: string, cid: string, plan: Plan, base_sha256: string) => loose('put', '/workspaces/{wid}/chats/{cid}/plan', { path: { wid, cid }, body: { content: plan, base_sha256 } }),
  execute: (wid: string, cid: string, body: ExecuteBody) => loose('post', '/workspaces/{wid}/chats/{cid}/execute', { path: { wid, cid }, body }),
  sendComments: (wid: string, cid: string, content: string, comments: PlanComment[]) =>
    loose('post', '/workspaces/{wid}/chats/{cid}/messages', { path: { wid, cid }, body: { content, comments }, headers: { 'idempotency-key': crypto.randomUUID() } }),
};
