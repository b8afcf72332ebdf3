// Signs in: the credential becomes a cookie that scripts can't read.
import { api, ApiError } from './client';

let isRefused = false;
/** Whether the URL had a token that the server refused. */
export const wasRefused = (): boolean => isRefused;

/** Removes the token from the URL, where `serve` put it, and signs in with it. */
export async function signInByAddress(): Promise<void> {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  if (!token) return;
  history.replaceState(null, '', location.pathname + location.search);
  await api.login({ token }).catch((reason: unknown) => {
    isRefused = reason instanceof ApiError && reason.status === 401;
  });
}
