// Signing in: what is offered becomes a cookie that scripts can't read.
import { api } from './client';

/** Takes the token out of the address, where `serve` put it, and signs in with it. */
export async function signInByAddress(): Promise<void> {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  if (!token) return;
  history.replaceState(null, '', location.pathname + location.search);
  // A token that is refused shows in the first call that needs it.
  await api.login({ token }).catch(() => undefined);
}
