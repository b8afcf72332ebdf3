// What a chat changed, by file and by message, and taking it back, in a real browser.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { OBEDIENT, Stage, atRest, picture } from './stage.mjs';
import { until } from './support.mjs';

let stage;
before(async () => {
  stage = await Stage.set(OBEDIENT);
});

const read = (name) => readFileSync(join(stage.workspace, name), 'utf8');
const panelOf = (page) => page.getByRole('complementary', { name: 'Side panel' });
const showChanges = async (page) => {
  if (!(await panelOf(page).isVisible())) await page.getByRole('button', { name: 'Side panel' }).click();
  await panelOf(page).getByRole('tab', { name: 'Changes' }).click();
  return panelOf(page).getByRole('region', { name: 'Changes' });
};
/** A chat in act mode whose model has done what it was told, one message after the other. */
const acted = async (...orders) => {
  const chat = await stage.chat({ agent_mode: 'act' });
  await stage.say(chat, 'Hello');
  await until(async () => (await stage.snapshot(chat)).messages.some((message) => message.content === 'Ready to build.'), 'the greeting');
  await atRest(stage, chat);
  for (const calls of orders) {
    await stage.say(chat, calls.map(([tool, args]) => `CALL ${tool} ${JSON.stringify(args)}`).join('\n'));
    await until(async () => (await stage.snapshot(chat)).messages.filter((message) => message.message_type === 'tool_result').length > 0, 'a result');
    await atRest(stage, chat);
  }
  return chat;
};
const GREET = ['edit', { path: '/src/lib.rs', old_string: 'Greets people', new_string: 'Greets all people' }];

test('files changed by the chat show with their lines, by file and by message, and grow while the chat works', async () => {
  const chat = await acted([['write', { path: '/notes.txt', content: 'one\ntwo\n' }]], [GREET, ['mkdir', { path: '/empty' }]]);
  const page = await stage.open(chat);
  const changes = await showChanges(page);
  await changes.getByText('3 files').waitFor();
  const lib = changes.getByRole('button', { name: /src\/lib\.rs/ });
  assert.match(await lib.innerText(), /\+1\s−1/);
  await lib.click();
  const diff = changes.getByRole('group', { name: '/src/lib.rs' });
  await diff.locator('.diff-code-insert', { hasText: 'Greets all people by name' }).waitFor();
  assert.equal(await diff.locator('.diff-code-edit', { hasText: 'all' }).count() > 0, true, 'the word that changed is marked');
  await picture(page, 'changes-by-file');
  await changes.getByRole('button', { name: /empty/ }).click();
  await changes.getByText('A folder.').waitFor();

  await changes.getByRole('button', { name: 'By message' }).click();
  const groups = changes.locator('ol > li').filter({ has: page.getByRole('button', { name: 'Take back…' }) });
  assert.equal(await groups.count(), 2, 'one group for each message of the user');
  assert.match(await groups.first().innerText(), /CALL edit/, 'newest first');
  await picture(page, 'changes-by-message');

  await stage.say(chat, `CALL write ${JSON.stringify({ path: '/later.txt', content: 'x\n' })}`);
  await changes.getByRole('button', { name: /later\.txt/ }).waitFor();
  assert.deepEqual(page.faults, []);
});

test('taking back to before a message shows first what it does, leaves alone what others changed, and can be undone', async () => {
  writeFileSync(join(stage.workspace, 'mine.txt'), 'before\n');
  const chat = await acted([['write', { path: '/kept.txt', content: 'kept\n' }]], [['edit', { path: '/mine.txt', old_string: 'before', new_string: 'after' }], ['write', { path: '/gone.txt', content: 'x\n' }]]);
  const page = await stage.open(chat);
  const changes = await showChanges(page);
  await changes.getByRole('button', { name: 'By message' }).click();
  await changes.getByRole('button', { name: 'Take back…' }).first().click();
  const dialog = page.getByRole('dialog', { name: 'Take back changes' });
  const list = dialog.getByRole('list', { name: 'Files to take back' });
  await list.getByText('/gone.txt').waitFor();
  assert.match(await list.innerText(), /\/gone\.txt\s+will be removed/);
  assert.match(await list.innerText(), /\/mine\.txt\s+returns to its earlier content/);
  assert.ok(!(await list.innerText()).includes('kept.txt'), 'what came before the message stays');
  await list.getByRole('button', { name: /mine\.txt/ }).click();
  await list.locator('.diff-code-insert', { hasText: 'after' }).waitFor();
  assert.equal(read('mine.txt'), 'after\n', 'a preview does nothing');
  await picture(page, 'revert-preview');
  await dialog.getByRole('button', { name: 'Cancel' }).click();

  // Somebody else changes one of them meanwhile.
  writeFileSync(join(stage.workspace, 'gone.txt'), 'y\n');
  await changes.getByRole('button', { name: 'Take back…' }).first().click();
  await dialog.getByText('1 file stays unchanged').waitFor();
  await picture(page, 'revert-conflict');
  await dialog.getByRole('button', { name: 'Take back the other file (1)' }).click();
  await page.getByText('1 file was taken back.').waitFor();
  assert.equal(read('mine.txt'), 'before\n');
  assert.equal(read('gone.txt'), 'y\n');
  assert.equal(read('kept.txt'), 'kept\n');
  await changes.getByText('taken back by you').waitFor();

  await page.getByRole('button', { name: 'Undo' }).click();
  await until(() => read('mine.txt') === 'after\n', 'the undone revert');
  assert.deepEqual(page.faults, []);
});

test('a message of yours takes back what was done about it, and says so where there is nothing', async () => {
  const chat = await acted([['write', { path: '/from-message.txt', content: 'x\n' }]]);
  const page = await stage.open(chat);
  const own = page.getByRole('article', { name: 'You' });
  await own.last().hover();
  await own.last().getByRole('button', { name: 'Take back changes from here on…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Take back 1 file' }).click();
  await until(() => !existsSync(join(stage.workspace, 'from-message.txt')), 'the file to go');
  await page.getByRole('note').filter({ hasText: 'from-message.txt' }).waitFor();
  await own.last().getByRole('button', { name: 'Take back changes from here on…' }).click();
  await page.getByText(/No changes to take back from this message on/).waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
  const changes = await showChanges(page);
  await changes.getByText('Everything was taken back').waitFor();
});

test('nothing yet, a failure with another try, and a server that is gone each say what to do', async () => {
  const chat = await stage.chat();
  const page = await stage.open(chat);
  await page.getByRole('button', { name: 'Side panel' }).click();
  await panelOf(page).getByRole('tab', { name: 'Changes' }).click();
  await panelOf(page).getByText('Nothing changed yet').waitFor();

  const broken = await acted([['write', { path: '/broken.txt', content: 'x\n' }]]);
  const other = await stage.open(broken);
  await other.route('**/changes', (route) => route.fulfill({ status: 422, json: { error: { code: 'VALIDATION_FAILED', message: 'Not like this.', retryable: false } } }));
  await other.getByRole('button', { name: 'Side panel' }).click();
  await panelOf(other).getByRole('tab', { name: 'Changes' }).click();
  await panelOf(other).getByRole('alert').getByText('Not like this.').waitFor();
  await other.unrouteAll();
  await panelOf(other).getByRole('button', { name: 'Try again' }).click();
  await panelOf(other).getByRole('button', { name: /broken\.txt/ }).waitFor();
});
