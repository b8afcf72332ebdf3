import { expect, test } from 'vitest';
import { spoken } from './time';

test('times that a model wrote are said in the reader\'s language, and stay where they are not understood', () => {
  expect(['2 min', '~ 1 hour', '10-15 minutes', 'an afternoon', '3 sprints'].map((time) => spoken('zh', time))).toEqual(['2 分钟', '1 小时', '10–15 分钟', 'an afternoon', '3 sprints']);
  expect(spoken('en', '2 min')).toBe('2 min');
  expect(spoken('en', '80 min')).toBe('1 h 20 min');
  expect(spoken('zh', '80 min')).toBe('1 小时 20 分钟');
});
