/** A line of a plan: what stands in backticks is code, everything else is as it was written. */
export function Words({ text }: { text: string }) {
  return text.split(/(`[^`]+`)/).map((piece, place) => (place % 2 === 1 ? <code key={place} className="rounded-xs bg-surface px-1">{piece.slice(1, -1)}</code> : piece));
}
