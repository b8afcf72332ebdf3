// What two lists have in common, in order.

/** Lists longer than this are not compared entry by entry: the table would grow with the product of both. */
const MOST_COMPARED = 1000;

type Pair<T> = [T | undefined, T | undefined];

/** The longest common subsequence of two lists, with what stands between its entries on either side. */
export function align<T>(before: T[], after: T[], same: (one: T, other: T) => boolean): Pair<T>[] {
  const shorter = Math.min(before.length, after.length);
  let [head, tail] = [0, 0];
  while (head < shorter && same(before[head] as T, after[head] as T)) head += 1;
  while (tail < shorter - head && same(before.at(-1 - tail) as T, after.at(-1 - tail) as T)) tail += 1;
  const pair = (item: T, place: number, offset: number): Pair<T> => [before[place + offset], item];
  return [
    ...after.slice(0, head).map((item, place) => pair(item, place, 0)),
    ...alignRest(before.slice(head, before.length - tail), after.slice(head, after.length - tail), same),
    ...after.slice(after.length - tail).map((item, place) => pair(item, place, before.length - tail)),
  ];
}

/** What is left where beginning and end are the same. */
function alignRest<T>(before: T[], after: T[], same: (one: T, other: T) => boolean): Pair<T>[] {
  if (before.length > MOST_COMPARED || after.length > MOST_COMPARED) {
    return [...before.map((item): [T, undefined] => [item, undefined]), ...after.map((item): [undefined, T] => [undefined, item])];
  }
  const lengths = commonLengths(before, after, same);
  const pairs: Pair<T>[] = [];
  let [old, young] = [0, 0];
  while (old < before.length || young < after.length) {
    const [below, beside] = [lengths[old + 1]?.[young] ?? -1, lengths[old]?.[young + 1] ?? -1];
    const both = old < before.length && young < after.length;
    if (both && same(before[old] as T, after[young] as T)) pairs.push([before[old++], after[young++]]);
    else if (old < before.length && (young >= after.length || below >= beside)) pairs.push([before[old++], undefined]);
    else pairs.push([undefined, after[young++]]);
  }
  return pairs;
}

/** How long the common subsequence of the rests is, by where the rests begin. */
function commonLengths<T>(before: T[], after: T[], same: (one: T, other: T) => boolean): number[][] {
  const lengths = Array.from({ length: before.length + 1 }, () => Array.from({ length: after.length + 1 }, () => 0));
  for (let old = before.length - 1; old >= 0; old -= 1) {
    for (let young = after.length - 1; young >= 0; young -= 1) {
      const [row, next] = [lengths[old] as number[], lengths[old + 1] as number[]];
      row[young] = same(before[old] as T, after[young] as T) ? (next[young + 1] ?? 0) + 1 : Math.max(next[young] ?? 0, row[young + 1] ?? 0);
    }
  }
  return lengths;
}
