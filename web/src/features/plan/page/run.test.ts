import { expect, test } from 'vitest';
import type { PlanStep } from '../model';
import { choiceOf, minutesOf, rangesOf, stepsIn, totalMinutes, untilStop } from './run';

const step = (step_number: number, status: PlanStep['status'] = 'pending', estimated_time = '5 min'): PlanStep => ({ step_number, action: '', reason: '', tools_needed: [], files: [], status, estimated_time });

test('skipped and finished steps are not run, and a stop after the last is none', () => {
  const steps = [step(1, 'done'), step(2), step(3), step(4)];
  expect(choiceOf(steps, new Set([3]), null)).toEqual({ steps: [2, 4], stopAfter: null });
  expect(choiceOf(steps, new Set(), 3)).toEqual({ steps: [2, 3, 4], stopAfter: 3 });
  expect(choiceOf(steps, new Set(), 4).stopAfter).toBe(null);
  expect(choiceOf(steps, new Set([3]), 3).stopAfter).toBe(null);
  expect(untilStop({ steps: [2, 3, 4], stopAfter: 3 })).toEqual([2, 3]);
});

test('steps are named by numbers and ranges', () => {
  expect(rangesOf([1, 2, 3, 5, 7, 8])).toBe('1-3, 5, 7-8');
  expect(stepsIn('1-3, 5', 12)).toEqual([1, 2, 3, 5]);
  expect(stepsIn('3 1，2', 12)).toEqual([1, 2, 3]);
  for (const wrong of ['', 'all', '0', '13', '3-1', '1-999999']) expect(stepsIn(wrong, 12)).toBe(null);
});

test('times add up as far as they are understood', () => {
  expect([minutesOf('5 min'), minutesOf('1 h 20 min'), minutesOf('2-3 hours'), minutesOf('soon'), minutesOf(undefined)]).toEqual([5, 80, 180, null, null]);
  expect(totalMinutes([step(1), step(2, 'pending', 'soon'), step(3)], [1, 2])).toBe(5);
});
