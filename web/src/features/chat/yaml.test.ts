import { expect, test } from 'vitest';
import { asYaml } from './yaml';

test('words, paths, ids and moments stand as they are; what YAML would misread is quoted', () => {
  const fields = {
    id: '01a1e05d-fd1e-739e-a9aa-66a1aa51494c', mode: 'plan', plan_file: '/plans/a.plan', created_at: '2026-01-31T12:00:00Z',
    title: 'Say: "hello" # now', yes: 'yes', number: '12', empty: '', none: null, list: ['a'],
  };
  expect(asYaml(fields)).toBe(
    ['---', 'id: 01a1e05d-fd1e-739e-a9aa-66a1aa51494c', 'mode: plan', 'plan_file: /plans/a.plan', 'created_at: 2026-01-31T12:00:00Z', 'title: "Say: \\"hello\\" # now"', 'yes: "yes"', 'number: "12"', 'empty: ""', 'none: null', 'list: ["a"]', '---'].join('\n'),
  );
});
