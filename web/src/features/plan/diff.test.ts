import { expect, test } from 'vitest';
import { comparePlans, compareWords, hasChanges } from './diff';
import { type Plan, readPlan } from './model';

const plan = (steps: object[], more: object = {}) => readPlan({ goal: 'Add a limiter', steps, ...more }) as Plan;

test('a step that was reworded is the same step; one between is added', () => {
  const before = plan([{ action: 'Add a token bucket keyed by tenant', reason: 'One is global.' }, { action: 'Write tests' }]);
  const after = plan([
    { action: 'Add a token bucket keyed by tenant and route', reason: 'One is global.', files: ['/src/limit.rs'] },
    { action: 'Wire it into the router' },
    { action: 'Write tests' },
  ]);
  const { steps } = comparePlans(before, after);
  expect(steps.map((step) => step.kind)).toEqual(['changed', 'added', 'same']);
  expect(steps[0]).toMatchObject({
    action: [
      { change: 'same', text: 'Add a token bucket keyed by ' },
      { change: 'removed', text: 'tenant' },
      { change: 'added', text: 'tenant and route' },
    ],
    fields: [{ field: 'files', pieces: [{ change: 'added', text: '/src/limit.rs' }] }],
  });
});

test('steps that have nothing in common are removed and added', () => {
  const { steps } = comparePlans(plan([{ action: 'Delete the cache' }]), plan([{ action: 'Measure first, then decide' }]));
  expect(steps.map((step) => step.kind)).toEqual(['removed', 'added']);
});

test('risks and times count as changes, progress does not', () => {
  const before = plan([{ action: 'a', status: 'pending' }], { risks: ['Clients may see 429'] });
  expect(hasChanges(comparePlans(before, plan([{ action: 'a', status: 'done' }], { risks: ['Clients may see 429'] })))).toBe(false);
  const after = comparePlans(before, plan([{ action: 'a' }], { risks: ['Clients may see 429', 'Memory grows'] }));
  expect(after.lists).toEqual([
    { list: 'risks', entries: [{ change: 'same', text: 'Clients may see 429' }, { change: 'added', text: 'Memory grows' }] },
  ]);
});

test('Chinese is compared by characters', () => {
  expect(compareWords('添加限流', '添加全局限流')).toEqual([
    { change: 'same', text: '添加' },
    { change: 'added', text: '全局' },
    { change: 'same', text: '限流' },
  ]);
});

test('texts of many thousand words are compared at once, as a whole', () => {
  const long = 'word '.repeat(5000);
  expect(compareWords(long, 'term '.repeat(5000)).map((piece) => piece.change)).toEqual(['removed', 'added']);
  expect(compareWords(long, `${long}end`).map((piece) => piece.change)).toEqual(['same', 'added']);
});
