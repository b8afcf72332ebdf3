// Modes, cancelling, and what is left of a chat when its editor goes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Home, choose, lifeCycle, write } from './support.mjs';

const long = 'one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen';

test('a mode that the client sets holds: what it forbids is refused, what it allows is done', async () => {
  const home = new Home({ plan: [{ calls: [write('/a.txt', 'no')] }, { text: 'Refused.' }], act: [{ calls: [write('/a.txt', 'yes\n')] }, { text: 'Done.' }] });
  const editor = await home.editor();
  await editor.begin();
  await editor.say('Write it');
  assert.equal(editor.call('write').rawOutput.error.code, 'TOOL_BLOCKED_BY_MODE');
  assert.equal(home.file('a.txt'), null);
  await editor.setMode('build');
  await editor.until(() => editor.of('current_mode_update').at(-1)?.currentModeId === 'build');
  await editor.say('Write it');
  assert.equal(home.file('a.txt'), 'yes\n');
  for (const mode of ['reviewer', 'tester', 'plan']) {
    await editor.setMode(mode);
    await editor.until(() => editor.of('current_mode_update').at(-1).currentModeId === mode);
  }
  await assert.rejects(editor.setMode('yolo'), /plan, build, reviewer/);
});

test('plan mode set in the middle of a run ends it before the answer: nothing of it happens any more', async () => {
  const calls = Array.from({ length: 400 }, (_, number) => write(`/${number}.txt`, 'x'));
  const replies = [0, 100, 200, 300].map((first) => ({ calls: calls.slice(first, first + 100) }));
  const home = new Home({ act: [...replies, { text: 'Done.' }], plan: [{ text: 'Planning.' }] });
  const editor = await home.editor();
  await editor.begin();
  await editor.setMode('build');
  const turn = editor.say('Write them all');
  await editor.until(() => editor.call('write')?.status !== undefined && home.file('2.txt') !== null);
  await editor.setMode('plan');
  const count = () => calls.filter((_, number) => home.file(`${number}.txt`) !== null).length;
  const then = count();
  assert.equal(await turn, 'cancelled');
  await editor.until(() => editor.of('current_mode_update').at(-1).currentModeId === 'plan');
  assert.equal(await editor.say('And now?'), 'end_turn');
  assert.equal(count(), then);
  assert.ok(then < calls.length, 'the run was over before the switch');
});

test('build mode set while a turn of plan mode runs does not carry out what was asked for in plan mode', async () => {
  const home = new Home({ plan: [{ text: long, delay_ms: 50, calls: [write('/sneaky.txt', 'x')] }], act: [{ text: 'Done.' }] });
  const editor = await home.editor();
  await editor.begin();
  const turn = editor.say('Go');
  await editor.until(() => editor.words().length > 0);
  await editor.setMode('build');
  assert.equal(await turn, 'end_turn');
  assert.equal(editor.call('write').rawOutput.error.code, 'MODE_CHANGED');
  assert.equal(home.file('sneaky.txt'), null);
});

test('a turn that is cancelled ends as such, and nothing of it happens afterwards', async () => {
  const home = new Home({ act: [{ text: long, delay_ms: 400, calls: [write('/late.txt', 'x')] }, { text: 'Next.' }] });
  const editor = await home.editor();
  await editor.begin();
  await editor.setMode('build');
  const turn = editor.say('Go');
  await editor.until(() => editor.words().includes('two'));
  await editor.cancel();
  assert.equal(await turn, 'cancelled');
  const told = editor.updates.length;
  assert.equal(await editor.say('And now?'), 'end_turn');
  assert.ok(editor.words().endsWith('Next.'));
  assert.ok(editor.updates.length > told);
  assert.equal(home.file('late.txt'), null);
});

test('a turn can be cancelled while it waits for the user', async () => {
  const home = new Home(lifeCycle, { 'hello.txt': 'Hello\n' });
  const editor = await home.editor({ permit: (_, own) => own.cancel().then(() => 'cancelled') });
  await editor.begin();
  assert.equal(await editor.say('Say goodbye'), 'cancelled');
  assert.equal(editor.call('exit_plan_mode').status, 'failed');
  assert.equal(home.file('bye.txt'), null);
  assert.equal(await editor.say('/answer yes'), 'end_turn');
  assert.match(editor.words(), /There is no pending question/);
});

test('a chat is told anew when it is loaded: words, calls with their diffs, plan, mode; and it goes on', async () => {
  const home = new Home({ ...lifeCycle, act: [...lifeCycle.act, { text: 'And again.', told: ['Say goodbye'] }] }, { 'hello.txt': 'Hello\n' });
  const first = await home.editor({ permit: choose('allow_once') });
  await first.begin();
  await first.say('Say goodbye');
  assert.equal(await first.close(), 0);

  const second = await home.editor();
  const { sessions } = await second.agent.request('session/list', { cwd: home.workspace });
  assert.deepEqual(sessions.map(({ sessionId, title, cwd }) => [sessionId, title, cwd]), [[first.session, 'Say goodbye', home.workspace]]);
  const { modes } = await second.load(first.session);
  assert.equal(modes.currentModeId, 'build');
  assert.deepEqual(second.of('user_message_chunk').map((update) => update.content.text)[0], 'Say goodbye');
  assert.match(second.words(), /Let me plan\.[^]*All done\.$/);
  const told = (editor) => editor.of('tool_call').map(({ name }) => [name, editor.call(name).status, JSON.stringify(editor.call(name).content)]);
  const files = ([name]) => ['write', 'edit', 'update_step', 'write_plan'].includes(name);
  assert.deepEqual(told(second).filter(files), told(first).filter(files));
  assert.deepEqual(second.of('plan').at(-1).entries.map((entry) => entry.status), ['completed', 'completed']);
  assert.equal(await second.say('Once more'), 'end_turn');
  assert.match(second.words(), /And again\.$/);
  await assert.rejects(second.load('01a1e121-e56c-750e-9c54-a1ee26594fe8'), (error) => error.data.code === 'NOT_FOUND');
});

test('a run stops when its editor goes, and the chat can be loaded and goes on', async () => {
  const home = new Home({ act: [{ text: long, delay_ms: 400, calls: [write('/late.txt', 'x')] }, { text: 'Next.' }] });
  const first = await home.editor();
  await first.begin();
  await first.setMode('build');
  first.say('Go').catch(() => {});
  await first.until(() => first.words().includes('two'));
  assert.equal(await first.close(), 0);
  const second = await home.editor();
  await second.load(first.session);
  assert.equal(await second.say('And now?'), 'end_turn');
  assert.match(second.words(), /Next\.$/);
  assert.equal(home.file('late.txt'), null);
});

test('a run that was cut off by a kill goes on with the next prompt', async () => {
  const home = new Home({ act: [{ calls: [write('/a.txt', 'a\n')] }, { text: long, delay_ms: 100 }, { text: 'Heard.', told: ['And now?'] }] });
  const first = await home.editor();
  await first.begin();
  await first.setMode('build');
  first.say('Go').catch(() => {});
  await first.until(() => first.words().includes('two'));
  first.process.kill('SIGKILL');
  await first.gone;
  const second = await home.editor();
  await second.load(first.session);
  assert.equal(await second.say('And now?'), 'end_turn');
  assert.match(second.words(), /eighteen/);
  // If the resumed reply had read the prompt already, it was the answer to it, and the script has one more.
  if (!second.words().endsWith('Heard.')) assert.equal(await second.say('And then?'), 'end_turn');
  assert.match(second.words(), /Heard\.$/);
  assert.equal(second.of('tool_call').filter(({ name }) => name === 'write').length, 1, 'done once');
});
