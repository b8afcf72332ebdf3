// How full a context is, and what fills it.
import type { Context, ContextPart } from '@/lib/api/types';

type Fullness = 'roomy' | 'filling' | 'full';

/** From three quarters on the server sums up by itself. */
export const fullnessOf = (share: number): Fullness => (share >= 0.75 ? 'full' : share >= 0.5 ? 'filling' : 'roomy');

/** As a share of the room, at most all of it. */
export const shareOf = (used: number, limit: number | null): number => (limit ? Math.min(1, used / limit) : 0);

export const estimated = (parts: ContextPart[]): number => parts.reduce((sum, part) => sum + part.tokens, 0);

/** What the model counted; before its first reply, and after a summary, what we estimate. */
export function usedOf({ used, parts }: Pick<Context, 'used' | 'parts'>): { tokens: number; isEstimated: boolean } {
  return used > 0 ? { tokens: used, isEstimated: false } : { tokens: estimated(parts), isEstimated: true };
}
