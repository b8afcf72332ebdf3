// One typed request: its path, parameters, body and answer are those of the description of the API.
import type { paths } from './schema';
import type { Problem } from './types';

/** The server's error. `status` 0: the server is unreachable. */
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

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';
type Described = { [P in keyof paths]: P extends `/api/v1${infer Rest}` ? Rest : never }[keyof paths];
type Operation<M extends Method, P extends string> = `/api/v1${P}` extends keyof paths ? paths[`/api/v1${P}`][M] : never;
/** The paths that take a method. */
type PathOf<M extends Method> = { [P in Described]: [Operation<M, P>] extends [undefined] ? never : P }[Described];

type JsonOf<T> = T extends { content: { 'application/json': infer Body } } ? Body : undefined;
type Answer<O> = O extends { responses: infer R } ? { [Status in keyof R & (200 | 201 | 202 | 204)]: JsonOf<R[Status]> }[keyof R & (200 | 201 | 202 | 204)] : never;
type PathValues<O> = O extends { parameters: { path: infer Values } } ? { path: Values } : unknown;
type QueryValues<O> = O extends { parameters: { query: infer Values } } ? { query: Values } : O extends { parameters: { query?: infer Values } } ? (Values extends object ? { query?: Values } : unknown) : unknown;
type BodyValue<O> = O extends { requestBody: { content: { 'image/*': unknown } } } ? { body: Blob } : O extends { requestBody: { content: { 'application/json': infer Body } } } ? { body: Body } : O extends { requestBody?: { content: { 'application/json': infer Body } } } ? { body?: Body } : unknown;
type Options<O> = PathValues<O> & QueryValues<O> & BodyValue<O> & { headers?: Record<string, string>; outlivesPage?: boolean };
/** The argument is optional if nothing is required. */
type Given<O> = Record<never, never> extends Options<O> ? [options?: Options<O>] : [options: Options<O>];

interface Loose {
  path?: Record<string, string>;
  query?: Record<string, unknown>;
  body?: unknown;
  headers?: Record<string, string>;
  /** Whether a reload or a closed tab must not cancel it; for small bodies. */
  outlivesPage?: boolean;
}

interface Received<T> {
  answer: T;
  response: Response;
}

export async function request<M extends Method, P extends PathOf<M>>(method: M, path: P, ...given: Given<Operation<M, P>>): Promise<Received<Answer<Operation<M, P>>>> {
  const { path: names, query, body, headers, outlivesPage = false } = (given[0] ?? {}) as Loose;
  const response = await fetch(addressOf(path, names, query), {
    method: method.toUpperCase(),
    keepalive: outlivesPage,
    headers: {
      // Required besides the cookie: foreign pages can't send this header.
      'x-planwright-csrf': '1',
      ...(body === undefined ? {} : { 'content-type': body instanceof Blob ? body.type : 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: body instanceof Blob ? body : JSON.stringify(body) }),
  }).catch((reason: unknown) => {
    throw new ApiError(0, { code: 'UNREACHABLE', message: String(reason), retryable: true });
  });
  const answer: unknown = response.status === 204 ? undefined : await response.json().catch(() => null);
  if (response.ok) return { answer: answer as Answer<Operation<M, P>>, response };
  const problem = (answer as { error?: Problem } | null)?.error;
  throw new ApiError(response.status, problem ?? { code: 'INTERNAL', message: `HTTP ${response.status}`, retryable: response.status >= 500 });
}

/** The URL of an API path. Empty values are left out of the query. */
export function addressOf(path: string, names: Record<string, string> = {}, query: Record<string, unknown> = {}): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(names[name] ?? ''));
  const values = Object.entries(query).flatMap(([name, value]) => (value === undefined || value === '' ? [] : [[name, String(value)]]));
  return `/api/v1${filled}${values.length > 0 ? `?${new URLSearchParams(values)}` : ''}`;
}

/** The same, returning only the body. */
export async function call<M extends Method, P extends PathOf<M>>(method: M, path: P, ...given: Given<Operation<M, P>>): Promise<Answer<Operation<M, P>>> {
  return (await request(method, path, ...given)).answer;
}
