const WIDTH = 64;

/** How much of something is done, as a bar. The words stand beside it. */
export function Meter({ value, total, colour = 'fill-act' }: { value: number; total: number; colour?: string }) {
  return (
    <svg aria-hidden viewBox={`0 0 ${WIDTH} 4`} preserveAspectRatio="none" className="h-1 w-16 shrink-0 overflow-hidden rounded-full bg-line2">
      <rect height="4" rx="2" width={total > 0 ? (WIDTH * value) / total : 0} className={colour} />
    </svg>
  );
}
