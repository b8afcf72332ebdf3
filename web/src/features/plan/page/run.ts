// Which steps a press of Execute runs, and how that is said.
import type { PlanStep } from '../model';

export interface RunChoice {
  /** The steps to run, by number; those that are over are not among them. */
  steps: number[];
  /** The last of them before the run stops and asks. */
  stopAfter: number | null;
}

const isOver = (step: PlanStep) => step.status === 'done' || step.status === 'skipped';

export function choiceOf(steps: readonly PlanStep[], skipped: ReadonlySet<number>, stopAfter: number | null): RunChoice {
  const chosen = steps.filter((step) => !isOver(step) && !skipped.has(step.step_number)).map((step) => step.step_number);
  // After the last one it stops anyway.
  const stop = stopAfter !== null && chosen.includes(stopAfter) && stopAfter !== chosen.at(-1) ? stopAfter : null;
  return { steps: chosen, stopAfter: stop };
}

/** Those that run before anything is asked. */
export const untilStop = ({ steps, stopAfter }: RunChoice): number[] => (stopAfter === null ? steps : steps.filter((step) => step <= stopAfter));

/** "1-3, 5". */
export function rangesOf(numbers: readonly number[]): string {
  const ranges: [number, number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last && last[1] === number - 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([from, to]) => (from === to ? String(from) : `${from}-${to}`)).join(', ');
}

/** The steps that such words name; null where they name none, or one that is not there. */
export function stepsIn(text: string, total: number): number[] | null {
  const found = new Set<number>();
  for (const part of text.split(/[,，、\s]+/).filter((one) => one !== '')) {
    const [, from, to] = /^(\d{1,4})(?:[-–](\d{1,4}))?$/.exec(part) ?? [];
    const [first, last] = [Number(from), Number(to ?? from)];
    if (from === undefined || first < 1 || last > total || first > last) return null;
    for (let step = first; step <= last; step += 1) found.add(step);
  }
  return found.size === 0 ? null : [...found].toSorted((a, b) => a - b);
}

const MINUTES: [RegExp, number][] = [[/^s/i, 1 / 60], [/^m/i, 1], [/^h/i, 60], [/^d/i, 480]];

/** How long a time is that a model wrote, in minutes; the longer end of a range. Null where it is not understood. */
export function minutesOf(time: string | undefined): number | null {
  const parts = [...(time ?? '').matchAll(/(?:\d+(?:\.\d+)?\s*[-–]\s*)?(\d+(?:\.\d+)?)\s*([a-z]+)/gi)];
  const known = parts.map(([, count, unit = '']) => Number(count) * (MINUTES.find(([form]) => form.test(unit))?.[1] ?? Number.NaN));
  const sum = known.reduce((total, one) => total + one, 0);
  return known.length === 0 || Number.isNaN(sum) ? null : sum;
}

/** The time of some steps in minutes, as far as they tell one. */
export function totalMinutes(steps: readonly PlanStep[], numbers: readonly number[]): number {
  const chosen = new Set(numbers);
  return steps.filter((step) => chosen.has(step.step_number)).reduce((total, step) => total + (minutesOf(step.estimated_time) ?? 0), 0);
}
