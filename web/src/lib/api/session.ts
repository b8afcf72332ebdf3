// Signing in: what is offered becomes a cookie that scripts can't read.
import { api, ApiError } from './client';

let isRefused = false;
/** Whether the address had a token that the server does not take. */
export const wasRefused = (): boolean => isRefused;

/** Takes the token out of the address, where `serve` put it, and signs in with it. */
export async function signInByAddress(): Promise<void> {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  if (!token) return;
  history.replaceState(null, '', location.pathname + location.search);
  await api.login({ token }).catch((reason: unknown) => {
    isRefused = reason instanceof ApiError && reason.status === 401;
  });
}
