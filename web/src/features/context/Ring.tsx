import { fullnessOf } from './fullness';

const COLOURS = { roomy: 'var(--fg2)', filling: 'var(--major)', full: 'var(--critical)' };
const RADIUS = 7;
const ROUND = 2 * Math.PI * RADIUS;

/** A share as a circle that fills. */
export function Ring({ share, size = 18 }: { share: number; size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 18 18" aria-hidden className="shrink-0 -rotate-90">
      <circle cx="9" cy="9" r={RADIUS} fill="none" stroke="var(--line2)" strokeWidth="3" />
      <circle cx="9" cy="9" r={RADIUS} fill="none" stroke={COLOURS[fullnessOf(share)]} strokeWidth="3" strokeDasharray={`${share * ROUND} ${ROUND}`} />
    </svg>
  );
}
