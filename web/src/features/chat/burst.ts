// What a burst of calls did, in numbers.
import type { Call } from '@/lib/chat/rows';
import { looksOf, type CountedAs } from '@/lib/chat/tools';
import { diffOf, summaryOf, toolOf } from './toolCall';

type BurstKind = CountedAs | 'burstOther';

/** Searches are counted one by one; files and folders once each. */
export function burstCounts(calls: Call[]): [BurstKind, number][] {
  const found = new Map<BurstKind, Set<string>>();
  for (const { call } of calls) {
    const tool = toolOf(call);
    const kind: BurstKind = looksOf(tool).countedAs ?? 'burstOther';
    const about = kind === 'burstSearched' || kind === 'burstOther' ? call.id : summaryOf(call);
    found.set(kind, (found.get(kind) ?? new Set()).add(about));
  }
  return [...found].map(([kind, all]) => [kind, all.size]);
}

/** Lines that the calls added and removed, by their diffs. */
export function linesIn(calls: Call[]): { added: number; removed: number } {
  const lines = calls.flatMap(({ result }) => diffOf(result)?.split('\n') ?? []);
  const count = (sign: string) => lines.filter((line) => line.startsWith(sign) && !line.startsWith(sign.repeat(3))).length;
  return { added: count('+'), removed: count('-') };
}
