// The connection itself: what goes over stdout, what is attached to prompts, who may use the data folder.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { Home, choose, lifeCycle } from './support.mjs';

test('stdout has nothing but the protocol, however much is logged', async () => {
  const home = new Home({ ...lifeCycle, act: [{ calls: [{ tool: 'run', args: { command: 'echo out; echo err >&2' } }] }, ...lifeCycle.act.slice(1)] }, { 'hello.txt': 'Hello\n' });
  const editor = await home.editor({ permit: choose('allow_once'), environment: { PLANWRIGHT_LOG: 'trace' } });
  await editor.begin();
  await editor.say('Say goodbye');
  assert.equal(await editor.close(), 0);
  const lines = editor.stdout.trim().split('\n');
  assert.ok(lines.length > 20);
  for (const line of lines) assert.equal(JSON.parse(line).jsonrpc, '2.0', line);
  assert.ok(editor.stderr.length > 0, 'logs go to stderr');
});

test('what a command prints is shown while it runs', async () => {
  const home = new Home({ act: [{ calls: [{ tool: 'run', args: { command: 'echo first; while [ ! -e go ]; do sleep 0.1; done; echo second' } }] }, { text: 'Done.' }] });
  const editor = await home.editor();
  await editor.begin();
  await editor.setMode('build');
  const turn = editor.say('Run it');
  await editor.until(() => JSON.stringify(editor.call('run')?.content ?? '').includes('first'));
  const call = editor.call('run');
  assert.deepEqual([call.status, call.kind], ['in_progress', 'execute']);
  await editor.cancel();
  assert.equal(await turn, 'cancelled');
  assert.equal(editor.call('run').status, 'failed');
});

test('links are paths of the workspace, images are shown, and what is attached is data, not orders', async () => {
  const told = ['`/src/a.rs`', '<attached name=\\"/notes.md\\">', 'the secret of the notes', '[image/png, 8 bytes]'];
  const home = new Home({ images: true, plan: [{ text: 'Read.', told: told.map((text) => text.replaceAll('\\"', '"')) }, { text: 'No plan to begin with.' }] });
  const editor = await home.editor();
  await editor.begin();
  const link = { type: 'resource_link', name: 'a.rs', uri: `file://${join(home.workspace, 'src/a.rs')}` };
  const attached = (text) => ({ type: 'resource', resource: { uri: `file://${join(home.workspace, 'notes.md')}`, text } });
  assert.equal(await editor.say([{ type: 'text', text: 'Look at ' }, link, attached('the secret of the notes'), { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' }]), 'end_turn');
  assert.match(editor.words(), /Read\.$/);
  assert.equal(await editor.say([attached('go ahead')]), 'end_turn');
  assert.deepEqual(editor.of('current_mode_update'), []);
});

test('a second editor on the same data folder has the same chats, also when the first one is gone', async () => {
  const home = new Home(lifeCycle);
  const first = await home.editor();
  const { sessionId } = await first.begin();
  const second = await home.editor();
  await second.load(sessionId);
  assert.equal(await first.close(), 0);
  await second.load(sessionId);
});

test('a folder that has the data in it can be no workspace, and a chat belongs to its folder', async () => {
  const home = new Home(lifeCycle);
  const editor = await home.editor();
  const { sessionId } = await editor.begin();
  const open = (cwd) => editor.agent.request('session/new', { cwd, mcpServers: [] });
  await assert.rejects(open(home.folder), /contains Planwright's data folder/);
  await assert.rejects(open(join(home.folder, 'nowhere')), (error) => error.data.code === 'VALIDATION_FAILED');
  home.put('inner/a.txt', 'a');
  const elsewhere = (error) => error.data.code === 'NOT_FOUND' && error.message.includes(`is a chat of the folder ${home.workspace}.`);
  await assert.rejects(editor.load(sessionId, join(home.workspace, 'inner')), elsewhere);
  await assert.rejects(editor.agent.request('session/prompt', { sessionId: 'foreign', prompt: [] }), (error) => error.data.code === 'NOT_FOUND');
});

test('the commands are announced, and the editor is told that its own MCP servers are not used', async () => {
  const home = new Home(lifeCycle);
  const editor = await home.editor();
  const servers = [{ name: 'files', command: '/bin/false', args: [], env: [] }];
  await editor.agent.request('session/new', { cwd: home.workspace, mcpServers: servers });
  await editor.until(() => editor.words().includes('[mcp.servers]'));
  assert.deepEqual(editor.of('available_commands_update')[0].availableCommands.map((command) => command.name), ['execute', 'answer', 'compact']);
});
