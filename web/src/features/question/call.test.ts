import { expect, test } from 'vitest';
import type { Json } from '@/lib/api/types';
import { readCall } from './call';

test('a deletion is described by its effect', () => {
  const call = readCall({ tool: 'rm', args: { path: '/a' }, effects: [{ effect: 'delete', target: '/a' }], reason: '/a would be deleted', folder: '/' });
  expect(call).toMatchObject({ tool: 'rm', after: false, effects: [{ kind: 'delete', target: '/a' }] });
});

test('an edit names the file that it changes, and that it reads first is not told', () => {
  const call = readCall({
    tool: 'edit',
    args: { path: '/a', old_string: 'one\ntwo', new_string: 'one\n2\n' },
    effects: [{ effect: 'write', target: '/a' }, { effect: 'read', target: '/a' }],
  });
  expect(call.effects).toEqual([{ kind: 'write', target: '/a' }]);
  expect(call.changed).toBe('/a');
});

test('a command is shown with its folder and what else it needs', () => {
  const effects: Json = [{ effect: 'execute', target: { command: 'curl x', folder: '/src' } }, { effect: 'network' }];
  expect(readCall({ tool: 'run', args: { command: 'curl x' }, effects })).toMatchObject({
    command: { text: 'curl x', folder: '/src' },
    effects: [{ kind: 'network', target: '' }],
  });
});

test('changes of a command that has ended are to be kept or taken back', () => {
  const call = readCall({ tool: 'run', moment: 'after', args: { command: 'make' }, effects: [{ effect: 'move', target: { from: '/a', to: '/b' } }] });
  expect(call).toMatchObject({ after: true, command: { text: 'make' }, effects: [{ kind: 'move', target: '/a → /b' }] });
});

test('a call of an MCP server is described by server and tool', () => {
  const effects: Json = [{ effect: 'call', target: { server: 'files', tool: 'write_file' } }];
  expect(readCall({ tool: 'files__write_file', args: { path: '/a' }, effects })).toMatchObject({
    effects: [{ kind: 'call', target: 'files: write_file' }],
    args: { path: '/a' },
  });
});

test('an effect that is not known is named all the same', () => {
  expect(readCall({ tool: 'x', effects: [{ effect: 'teleport', target: '/a' }] }).effects).toEqual([{ kind: 'other', target: 'teleport' }]);
});
