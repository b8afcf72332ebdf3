// Tool calls that wait for a decision, in a real browser: what they would do is seen first, then decided by mouse or keys.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { OBEDIENT, PAYLOADS, Stage, answered, atRest, barOf, nothingRan, picture, settled } from './stage.mjs';

let stage;
before(async () => {
  stage = await Stage.set(OBEDIENT);
});

const orders = (calls) => calls.map(([tool, args]) => `CALL ${tool} ${JSON.stringify(args)}`).join('\n');
/** A chat in act mode whose model makes these calls. */
const acting = async (...calls) => {
  const chat = await stage.chat({ agent_mode: 'act' });
  const page = await stage.open(chat);
  await stage.say(chat, 'Hello');
  await page.getByText('Ready to build.').waitFor();
  await atRest(stage, chat);
  await stage.say(chat, orders(calls));
  const bar = barOf(page);
  await bar.waitFor();
  return { chat, page, bar };
};
/** The same with an approved plan that names a single file, so that every other one is outside it. */
const building = async (...calls) => {
  const chat = await stage.chat();
  const page = await stage.open(chat);
  const plan = { goal: 'Touch one file', steps: [{ step_number: 1, action: 'Write it', reason: 'So.', tools_needed: ['write'], files: ['/inside.txt'] }] };
  await stage.say(chat, `CALL write_plan ${JSON.stringify(plan)}`);
  await page.getByRole('button', { name: 'Execute plan' }).first().waitFor();
  await atRest(stage, chat);
  await stage.call('POST', `${chat.api}/execute`, {});
  await page.getByText('Ready to build.').waitFor();
  await atRest(stage, chat);
  await stage.say(chat, orders(calls));
  const bar = barOf(page);
  await bar.waitFor();
  return { chat, page, bar };
};
const file = (name, content = 'old\n') => {
  writeFileSync(join(stage.workspace, name), content);
  return join(stage.workspace, name);
};

test('a deletion is critical: its effect is shown, nothing stands out as the usual answer, and denying keeps the file', async () => {
  const path = file('deny-me.txt');
  const { chat, page, bar } = await acting(['rm', { path: '/deny-me.txt' }]);
  assert.equal(await bar.getAttribute('data-severity'), 'critical');
  await bar.getByText('Delete 1 file, 1 line?', { exact: true }).waitFor();
  await bar.getByText('/deny-me.txt', { exact: true }).waitFor();
  await picture(page, 'approval-critical');
  await bar.getByRole('button', { name: 'Deny', exact: true }).click();
  await answered(page);
  await atRest(stage, chat);
  assert.ok(existsSync(path));
  await page.locator('[data-answer]').filter({ hasText: 'Denied' }).waitFor();
  assert.deepEqual(page.faults, []);
});

test('allowing once allows one call; the next asks again', async () => {
  const [first, second] = [file('once-1.txt'), file('once-2.txt')];
  const { chat, page, bar } = await acting(['rm', { path: '/once-1.txt' }], ['rm', { path: '/once-2.txt' }]);
  await bar.getByText('/once-1.txt', { exact: true }).waitFor();
  await bar.getByRole('button', { name: 'Delete 1 file' }).click();
  await bar.getByText('/once-2.txt', { exact: true }).waitFor();
  assert.ok(!existsSync(first) && existsSync(second));
  await bar.getByRole('button', { name: 'Deny', exact: true }).click();
  await answered(page);
  await atRest(stage, chat);
  assert.ok(existsSync(second));
});

test('always allowing spares the questions that follow', async () => {
  const { chat, page, bar } = await building(['write', { path: '/always-1.txt', content: 'one\n' }], ['write', { path: '/always-2.txt', content: 'two\n' }]);
  await bar.locator('[data-change="insert"]').filter({ hasText: 'one' }).waitFor();
  await bar.getByRole('button', { name: 'More' }).click();
  await bar.getByRole('button', { name: /^Always allow/ }).click();
  await answered(page);
  await atRest(stage, chat);
  const asked = (await stage.snapshot(chat)).messages.filter((message) => message.message_type === 'question');
  assert.equal(asked.length, 1, 'the second change did not ask');
  for (const name of ['always-1.txt', 'always-2.txt']) assert.ok(existsSync(join(stage.workspace, name)));
});

test('Alt+A, Alt+Shift+A and Alt+D decide while the focus is in the bar, and nowhere else', async () => {
  const [first, second] = [file('keys-1.txt'), file('keys-2.txt')];
  const { chat, page, bar } = await building(['rm', { path: '/keys-1.txt' }], ['rm', { path: '/keys-2.txt' }], ['write', { path: '/keys-3.txt', content: 'x\n' }], ['write', { path: '/keys-4.txt', content: 'x\n' }]);
  await bar.getByText('/keys-1.txt', { exact: true }).waitFor();
  await page.getByRole('textbox', { name: 'Message' }).click();
  await page.keyboard.press('Alt+a');
  await page.keyboard.press('Alt+d');
  await bar.getByText('/keys-1.txt', { exact: true }).waitFor();
  assert.ok(existsSync(first), 'keys outside the bar decide nothing');
  const inBar = async () => {
    await settled(page);
    await page.keyboard.press('Alt+q');
    await page.waitForFunction(() => document.activeElement?.closest('section[data-kind]'));
  };
  await inBar();
  await page.keyboard.press('Alt+a');
  await bar.getByText('/keys-2.txt', { exact: true }).waitFor();
  assert.ok(!existsSync(first));
  await inBar();
  await page.keyboard.press('Alt+d');
  await bar.getByText('/keys-3.txt', { exact: true }).waitFor();
  assert.ok(existsSync(second));
  await inBar();
  await page.keyboard.press('Alt+Shift+a');
  await answered(page);
  await atRest(stage, chat);
  await page.locator('[data-answer]').filter({ hasText: 'Always allowed in this chat' }).waitFor();
  assert.ok(existsSync(join(stage.workspace, 'keys-4.txt')));
});

test('a digit only goes to the button of a critical decision; pressing it is a second act', async () => {
  const path = file('digit.txt');
  const { chat, page, bar } = await acting(['rm', { path: '/digit.txt' }]);
  await settled(page);
  await page.keyboard.press('Alt+q');
  await bar.getByRole('button', { name: 'Deny', exact: true }).and(page.locator(':focus')).waitFor();
  await page.keyboard.press('1');
  await bar.getByRole('button', { name: 'Delete 1 file' }).and(page.locator(':focus')).waitFor();
  await bar.getByRole('button', { name: 'Deny', exact: true }).waitFor();
  assert.ok(existsSync(path));
  await page.keyboard.press('Enter');
  await answered(page);
  await atRest(stage, chat);
  assert.ok(!existsSync(path));
});

test('a change outside the plan shows its lines before it is allowed', async () => {
  const path = file('outside.txt', 'one\ntwo\nthree\n');
  const { chat, page, bar } = await building(['read', { path: '/outside.txt' }], ['edit', { path: '/outside.txt', old_string: 'one\ntwo', new_string: 'one\n2' }]);
  assert.equal(await bar.getAttribute('data-severity'), 'major');
  await bar.locator('[data-change="delete"]').filter({ hasText: 'two' }).waitFor();
  await bar.locator('[data-change="insert"]').filter({ hasText: '2' }).waitFor();
  await picture(page, 'approval-change');
  await bar.getByRole('button', { name: 'Change outside.txt' }).click();
  await answered(page);
  await atRest(stage, chat);
  assert.equal(readFileSync(path, 'utf8'), 'one\n2\nthree\n');
});

test('an approval waits over a reload and the death of the server', async () => {
  const path = file('wait.txt');
  const { chat, page, bar } = await acting(['rm', { path: '/wait.txt' }]);
  await stage.end('SIGKILL');
  await stage.start();
  await page.reload();
  await bar.getByText('/wait.txt', { exact: true }).waitFor();
  assert.ok(existsSync(path));
  await bar.getByRole('button', { name: 'Delete 1 file' }).click();
  await answered(page);
  await atRest(stage, chat);
  assert.ok(!existsSync(path));
});

test('payloads in names, commands and output are text', async () => {
  const name = '<img src=x onerror="window.ran=1">.txt';
  file(name);
  const { chat, page, bar } = await acting(['rm', { path: `/${name}` }], ['run', { command: `echo '${PAYLOADS.join(' ')}'`, network: true }]);
  await bar.getByText(name).first().waitFor();
  assert.ok(await nothingRan(page));
  await bar.getByRole('button', { name: 'Deny', exact: true }).click();
  await bar.getByText('Run a command with network access?').waitFor();
  assert.ok(await nothingRan(page));
  await bar.getByRole('button', { name: 'Run with network access' }).click();
  await answered(page);
  await atRest(stage, chat);
  await page.getByText('I was told to do nothing.').waitFor();
  await page.getByRole('article', { name: 'Tool call: run' }).getByRole('button', { expanded: false }).last().click();
  assert.ok(await nothingRan(page));
  assert.deepEqual(page.faults, []);
});
