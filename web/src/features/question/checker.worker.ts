import { Validator } from '@cfworker/json-schema';
import { type Complaint, complaintsOf } from './complaint';
import type { Json, JsonObject } from '@/lib/api/types';

/** What the page asks. The schema has no references any more. */
export interface Check {
  id: number;
  schema: Json;
  value: Json;
}

/** `begun` starts the page's clock, so that the time it takes to start a worker does not count. */
export type Reply = { id: number; begun: true } | { id: number; complaints: Complaint[] };

const page = self as unknown as { onmessage: (event: MessageEvent<Check>) => void; postMessage: (reply: Reply) => void };

page.onmessage = ({ data: { id, schema, value } }) => {
  page.postMessage({ id, begun: true });
  const { errors } = new Validator(schema as JsonObject, '2020-12', false).validate(value);
  page.postMessage({ id, complaints: complaintsOf(errors, schema) });
};
