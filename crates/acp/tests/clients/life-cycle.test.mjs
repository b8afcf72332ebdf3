// From a prompt to a plan, to its approval, to files, in an editor.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { Home, choose, lifeCycle, plan, step, write } from './support.mjs';

test('a plan is put before the user with all it says, and carried out when they accept it', async () => {
  const home = new Home(lifeCycle, { 'hello.txt': 'Hello\n' });
  const editor = await home.editor({ permit: choose('allow_once') });
  assert.equal(editor.introduction.agentInfo.name, 'planwright');
  assert.equal(editor.introduction.agentCapabilities.loadSession, true);
  const { modes } = await editor.begin();
  assert.equal(modes.currentModeId, 'plan');
  assert.deepEqual(modes.availableModes.map((mode) => mode.id), ['plan', 'build', 'reviewer', 'commander', 'designer', 'tester']);

  assert.equal(await editor.say('Say goodbye'), 'end_turn');

  const [{ toolCall, options }] = editor.permissions;
  assert.equal(editor.permissions.length, 1);
  assert.deepEqual(options.map(({ name, kind }) => [name, kind]), [['Accept & Build', 'allow_once'], ['Keep Planning', 'reject_once']]);
  assert.equal(toolCall.kind, 'switch_mode');
  assert.match(toolCall.title, /Say goodbye/);
  assert.match(toolCall.content[0].content.text, /1\. Write bye\.txt[^]*files: `bye\.txt`[^]*2\. Write hello\.txt/);
  assert.equal(toolCall.locations[0].path, join(home.workspace, 'plans/say-goodbye.plan'));
  assert.equal(editor.call('exit_plan_mode').status, 'completed');
  assert.equal(toolCall.toolCallId, editor.call('exit_plan_mode').toolCallId);

  assert.deepEqual(editor.of('current_mode_update').map((update) => update.currentModeId), ['build']);
  const statuses = editor.of('plan').map((update) => update.entries.map((entry) => entry.status).join());
  assert.deepEqual(statuses, ['pending,pending', 'in_progress,pending', 'completed,pending', 'completed,completed'], 'each is told once');

  const written = editor.call('write');
  assert.deepEqual([written.status, written.kind, written.title], ['completed', 'edit', 'Write /bye.txt']);
  assert.deepEqual(written.locations.map(({ path }) => path), [join(home.workspace, 'bye.txt')]);
  assert.deepEqual(written.content, [{ type: 'diff', path: join(home.workspace, 'bye.txt'), newText: 'Goodbye\n' }]);
  const { content } = editor.call('edit');
  assert.deepEqual(content, [{ type: 'diff', path: join(home.workspace, 'hello.txt'), oldText: 'Hello\n', newText: 'Hi\n' }]);
  assert.equal(home.file('bye.txt'), 'Goodbye\n');
  assert.match(editor.words(), /Let me plan\.[^]*All done\.$/);
  assert.deepEqual(editor.surprises, [], 'files are changed by the agent itself, never through the editor');
});

test('a plan that the user does not accept is not carried out, and the model is told', async () => {
  const home = new Home(lifeCycle, { 'hello.txt': 'Hello\n' });
  const editor = await home.editor({ permit: choose('reject_once') });
  await editor.begin();
  assert.equal(await editor.say('Say goodbye'), 'end_turn');
  assert.match(editor.words(), /Then I plan on\.$/);
  assert.deepEqual(editor.of('current_mode_update'), []);
  assert.equal(home.file('bye.txt'), null);
});

test('a call outside of the plan asks with its diff, and follows the answer', async () => {
  const script = { plan: [{ calls: [plan('bye.txt')] }, { text: 'Ready.' }], act: [{ calls: [write('/other.txt', 'x\n')] }, { text: 'Done.' }] };
  for (const [kind, content] of [['allow_once', 'x\n'], ['reject_once', null]]) {
    const home = new Home(script);
    const editor = await home.editor({ permit: choose(kind) });
    await editor.begin();
    await editor.say('Plan it');
    assert.equal(editor.permissions.length, 0);
    assert.equal(await editor.say('/execute'), 'end_turn');
    const [{ toolCall, options }] = editor.permissions;
    assert.deepEqual(options.map((option) => option.kind), ['allow_once', 'allow_always', 'reject_once']);
    assert.equal(toolCall.toolCallId, editor.call('write').toolCallId);
    assert.equal(toolCall.content.find((item) => item.type === 'diff').newText, 'x\n');
    assert.equal(home.file('other.txt'), content, kind);
    const call = editor.call('write');
    assert.equal(call.status, content ? 'completed' : 'failed');
    if (!content) assert.equal(call.rawOutput.error.code, 'APPROVAL_DENIED');
  }
});

test('a plan told as JSON is shown as a plan, and an order by words carries it out', async () => {
  const { args } = plan('bye.txt');
  const home = new Home({ plan: [{ text: JSON.stringify(args) }], act: [{ calls: [write('/bye.txt', 'Bye\n'), step(1, 'done')] }, { text: 'Done.' }] });
  const editor = await home.editor();
  await editor.begin();
  assert.equal(await editor.say('Say goodbye'), 'end_turn');
  assert.equal(editor.words(), 'Say goodbye');
  assert.deepEqual(editor.of('plan').at(-1).entries.map((entry) => entry.content), ['1. Write bye.txt']);
  assert.equal(await editor.say('go ahead'), 'end_turn');
  assert.deepEqual(editor.of('current_mode_update').map((update) => update.currentModeId), ['build']);
  assert.equal(home.file('bye.txt'), 'Bye\n');
});

/** A picture of one pixel. */
const DOT = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

test('a run that fails says why, and so does a prompt that the model cannot take', async () => {
  const home = new Home({ plan: [{ error: 'PROVIDER_REJECTED' }] });
  const editor = await home.editor();
  await editor.begin();
  await assert.rejects(editor.say('Go'), (error) => error.data.code === 'PROVIDER_REJECTED' && error.message.length > 20);
  await assert.rejects(editor.say([{ type: 'image', data: DOT, mimeType: 'image/png' }]), /not known to look at images/);
});
