import { expect, test } from 'vitest';
import { fullnessOf, shareOf, usedOf } from './fullness';

test('how full it is, is at most all of it, and nothing where the room is not known', () => {
  expect([shareOf(30, 100), shareOf(130, 100), shareOf(30, null)]).toEqual([0.3, 1, 0]);
  expect([0.2, 0.5, 0.75].map(fullnessOf)).toEqual(['roomy', 'filling', 'full']);
});

test('the count of the model goes over our estimate, which stands where there is none', () => {
  const parts = [{ part: 'prompt' as const, tokens: 10, count: 1 }, { part: 'words' as const, tokens: 5, count: 2 }];
  expect(usedOf({ used: 40, parts })).toEqual({ tokens: 40, isEstimated: false });
  expect(usedOf({ used: 0, parts })).toEqual({ tokens: 15, isEstimated: true });
});
