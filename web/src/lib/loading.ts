// Parts of the page that could not be loaded.
import { api, ApiError } from '@/lib/api/client';

/** As browsers and the bundler say it. */
const FAILED = /dynamically imported module|importing a module script|unable to preload/i;

export const isLoadFailure = (error: Error): boolean => FAILED.test(error.message);

/** Whether a part is gone although the server is there: another version of it runs than the one the page is from. */
export async function isOutdated(error: Error): Promise<boolean> {
  return isLoadFailure(error) && api.me().then(() => true, (reason: unknown) => reason instanceof ApiError && reason.status !== 0);
}
