import { describe, expect, test } from 'vitest';
import type { AuditCount } from '@/lib/api/types';
import { isSwitch, isViolation, lastDays, MOST_SERIES, OTHERS, seriesOf, spansOf, sum, ticksOf } from './series';

const count = (day: string, more: Partial<AuditCount> = {}): AuditCount => ({
  day, kind: 'tool_blocked', model: 'a/b', agent_role: 'planner', tool: 'write', severity: null, mode: null, by: null, count: 1, ...more,
});

describe('days', () => {
  test('the last days end today and leave none out, also over a change of the clocks', () => {
    const days = lastDays(90, new Date(2026, 10, 15, 0, 5));
    expect(days).toHaveLength(90);
    expect(days.at(-1)).toBe('2026-11-15');
    expect(new Set(days).size).toBe(90);
    expect(days[0]).toBe('2026-08-18');
  });

  test('where there is no room for a bar a day, several days are one bar, and the newest is whole', () => {
    const days = lastDays(90, new Date(2026, 10, 15));
    expect(spansOf(days, 90)).toHaveLength(90);
    const spans = spansOf(days, 30);
    expect(spans).toHaveLength(30);
    expect(spans.at(-1)).toEqual({ first: '2026-11-13', last: '2026-11-15' });
    expect(spansOf(lastDays(7, new Date(2026, 10, 15)), 4).map((span) => span.first)).toEqual(['2026-11-09', '2026-11-10', '2026-11-12', '2026-11-14']);
  });
});

describe('series', () => {
  const spans = spansOf(['2026-01-01', '2026-01-02', '2026-01-03'], 3);

  test('counts go to their day and their key, the most frequent first', () => {
    const counts = [count('2026-01-01', { tool: 'rm' }), count('2026-01-03', { count: 4 }), count('2026-01-03', { tool: 'rm' }), count('2025-12-31'), count('2026-01-02', { tool: null })];
    expect(seriesOf(counts, spans, (one) => one.tool)).toEqual([
      { key: 'write', values: [0, 0, 4], total: 4 },
      { key: 'rm', values: [1, 0, 1], total: 2 },
    ]);
  });

  test('what is rare is put together', () => {
    const counts = Array.from({ length: 10 }, (_, index) => count('2026-01-02', { tool: `tool${index}`, count: 10 - index }));
    const series = seriesOf(counts, spans, (one) => one.tool);
    expect(series).toHaveLength(MOST_SERIES);
    expect(series.at(-1)).toEqual({ key: OTHERS, values: [0, 4 + 3 + 2 + 1, 0], total: 10 });
  });

  test('an order that means something is kept', () => {
    const counts = [count('2026-01-01', { severity: 'minor', count: 9 }), count('2026-01-01', { severity: 'critical' })];
    expect(seriesOf(counts, spans, (one) => one.severity, ['critical', 'major', 'minor']).map((one) => one.key)).toEqual(['critical', 'minor']);
  });

  test('a refusal in plan mode counts once, and the beginning of a chat is no switch', () => {
    const counts = [count('2026-01-01'), count('2026-01-01', { kind: 'disallowed_tool_attempt_in_planning' }), count('2026-01-01', { kind: 'mode_entered' }), count('2026-01-01', { kind: 'mode_entered', by: 'user' })];
    expect([sum(counts, isViolation), sum(counts, isSwitch)]).toEqual([1, 1]);
  });
});

test('the scale has round numbers that reach over the highest', () => {
  expect(ticksOf(0)).toEqual([0, 1]);
  expect(ticksOf(3)).toEqual([0, 1, 2, 3]);
  expect(ticksOf(17)).toEqual([0, 5, 10, 15, 20]);
  expect(ticksOf(230)).toEqual([0, 100, 200, 300]);
});
