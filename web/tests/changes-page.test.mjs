// Reviewing what a chat changed, in a real browser: files, comments on lines, taking back, approvals, grants.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { assertNothingFound } from './axe.mjs';
import { REVIEWED } from './changes-content.mjs';
import { OBEDIENT, PAYLOADS, PHONE, Stage, atRest, barOf, nothingRan, picture, settled } from './stage.mjs';
import { startServer, until } from './support.mjs';

const stage = new Stage();
let reviewed;
before(async () => {
  stage.server = await startServer({ model: OBEDIENT, files: REVIEWED.before, folder: 'orders-api' });
  stage.workspace = stage.server.workspace;
  reviewed = await changedChat();
});

const order = (calls) => calls.map(([tool, args]) => `CALL ${tool} ${JSON.stringify(args)}`).join('\n');
const read = (name) => readFileSync(join(stage.workspace, name), 'utf8');
const said = async (chat, text) => (await stage.snapshot(chat)).messages.some(({ content }) => content.includes(text));
const pending = async (chat) => (await stage.snapshot(chat)).pending_question;

/** Says something, and allows what asks, until the run is over. */
async function perform(chat, text) {
  const { message } = await stage.say(chat, text);
  await until(async () => (await stage.snapshot(chat)).messages.some(({ id }) => id > message.id), 'the run');
  await until(async () => {
    if (await pending(chat)) await stage.answer(chat, { decision: 'approve' });
    return (await stage.snapshot(chat)).chat.state === 'idle';
  }, 'the end of the run');
}

/** A chat whose plan of twelve steps was carried out: thirty-one files. */
async function changedChat() {
  const chat = await stage.chat({ title: 'Idempotency keys for POST /v1/orders' });
  await stage.say(chat, `CALL write_plan ${JSON.stringify(REVIEWED.plan)}`);
  await until(async () => (await stage.snapshot(chat)).messages.some(({ message_type }) => message_type === 'plan'), 'the plan');
  await atRest(stage, chat);
  await stage.call('POST', `${chat.api}/execute`, {});
  await until(() => said(chat, 'Ready to build.'), 'the start');
  await atRest(stage, chat);
  for (const calls of REVIEWED.steps) await perform(chat, order(calls));
  return chat;
}

async function openChanges(chat, options = {}) {
  const context = await stage.context(options);
  const page = await context.newPage();
  if (!options.size) await page.setViewportSize({ width: 1440, height: 900 });
  await page.goto(`${chat.url}/changes${options.query ?? ''}`);
  await page.getByRole('tree').waitFor();
  return page;
}

const item = (page, name) => page.getByRole('treeitem', { name });
const lines = (page) => page.locator('.diff-line');
const cursor = (page) => page.locator('.diff-line[data-cursor]');
const dialogOf = (page) => page.getByRole('dialog');

test('RV-5, RV-6: 31 files are reviewed with keys: viewed marks last, comments survive a reload and go out as one message', async () => {
  const page = await openChanges(reviewed);
  await page.getByText('0 of 31 viewed').waitFor();
  await page.getByRole('link', { name: 'Changes 31' }).waitFor();
  for (let file = 1; file <= 31; file += 1) {
    await page.keyboard.press('v');
    await page.getByText(`${file} of 31 viewed`).waitFor();
  }
  await page.reload();
  await page.getByText('31 of 31 viewed').waitFor();

  // By step, then to a file that its mark has folded, and along its changes.
  await page.goto(`${reviewed.url}/changes?step=5&file=/src/http/orders/create.rs`);
  await item(page, /^create\.rs/).first().waitFor();
  assert.equal(await page.locator('[role=treeitem][aria-selected]').count(), 3, 'step 5 changed three files');
  await page.locator('[data-head="/src/http/orders/create.rs"] button[aria-expanded=false]').click();
  await lines(page).filter({ hasText: 'Replayable' }).first().waitFor();
  await page.keyboard.press('n');
  await cursor(page).filter({ hasText: 'DedupeCache' }).waitFor();
  await page.keyboard.press('n');
  await cursor(page).filter({ hasText: 'State(dedupe)' }).waitFor();
  await page.getByRole('region', { name: /^Diffs/ }).focus();
  for (const key of ['ArrowDown', 'Shift+ArrowDown']) await page.keyboard.press(key);
  await page.keyboard.press('c');
  await page.keyboard.type('Two lines in one.');
  await page.keyboard.press('Control+Enter');
  await lines(page).filter({ hasText: 'tx.commit' }).getByRole('button', { name: 'Comment on line 35' }).click();
  await page.keyboard.type('If the process dies here, the event is never published.');
  await picture(page, 'changes-page');
  await page.reload();
  await page.locator('[data-head="/src/http/orders/create.rs"] button[aria-expanded=false]').click();
  await page.getByRole('textbox', { name: /Line 35, step 5/ }).waitFor();
  await page.getByText('Two lines in one.').waitFor();

  await page.getByRole('button', { name: 'Send 2 comments' }).click();
  await page.getByText('2 comments sent.').first().waitFor();
  await until(() => said(reviewed, '/src/http/orders/create.rs:35'), 'the message');
  const { messages } = await stage.snapshot(reviewed);
  const sent = messages.findLast(({ author, metadata }) => author === 'user' && metadata.comments);
  assert.match(sent.content, /> {5}tx\.commit\(\)\.await\?;[^]*never published/);
  assert.equal(sent.metadata.comments.length, 2);
  await page.getByRole('button', { name: 'Send 2 comments' }).waitFor({ state: 'detached' });
  assert.deepEqual(page.faults ?? [], []);
  await page.context().close();
  await atRest(stage, reviewed);
});

test('RV-7: a hunk and a file are taken back after a preview; what changed meanwhile is a conflict; Undo brings it back', async () => {
  const page = await openChanges(reviewed, { query: '?file=/src/metrics.rs' });
  const earlier = read('src/metrics.rs');
  await page.locator('[data-head="/src/metrics.rs"] button[aria-expanded=false]').click();
  await lines(page).filter({ hasText: 'trim_end' }).first().waitFor();
  // More lines around the changes.
  const before = await lines(page).count();
  await page.getByRole('button', { name: 'Show more lines around the changes' }).first().click();
  await until(async () => (await lines(page).count()) > before, 'more lines');
  await page.keyboard.press('u');
  await page.locator('.diff-line .half').first().waitFor();
  await picture(page, 'changes-split');
  await page.keyboard.press('u');
  await page.keyboard.press('n');
  await cursor(page).waitFor();
  await page.keyboard.press('z');
  await dialogOf(page).getByRole('group').filter({ hasText: 'trim_end' }).waitFor();
  assert.equal(read('src/metrics.rs'), earlier, 'a preview does nothing');
  await picture(page, 'changes-take-back');
  await dialogOf(page).getByRole('button', { name: 'Take back hunk' }).click();
  await page.getByText('The hunk was taken back.').first().waitFor();
  assert.notEqual(read('src/metrics.rs'), earlier);
  await page.getByRole('button', { name: 'Undo' }).click();
  await until(() => read('src/metrics.rs') === earlier, 'the undone hunk');

  // Somebody else changes a file that is on the page.
  await page.goto(`${reviewed.url}/changes?file=/src/http/error.rs`);
  await page.locator('[data-head="/src/http/error.rs"]').waitFor();
  writeFileSync(join(stage.workspace, 'src/http/error.rs'), 'mine\n');
  await page.keyboard.press('Shift+Z');
  await dialogOf(page).getByRole('alert').waitFor();
  await picture(page, 'changes-conflict');
  await page.keyboard.press('Escape');
  assert.equal(read('src/http/error.rs'), 'mine\n');
  await page.goto(`${reviewed.url}/changes?file=/src/idempotency/key.rs`);
  await page.getByRole('button', { name: 'Take back file src/idempotency/key.rs' }).click();
  await dialogOf(page).getByRole('button', { name: 'Take back file' }).click();
  await until(() => !existsSync(join(stage.workspace, 'src/idempotency/key.rs')), 'the file to go');
  await page.context().close();
});

test('RV-9: on a phone, in Chinese: the list, one file at a time, a comment by a tap', async () => {
  const page = await openChanges(reviewed, { size: PHONE, locale: 'zh' });
  await picture(page, 'changes-phone');
  await assertNothingFound(page, 'the list on a phone');
  await page.getByRole('searchbox', { name: '筛选文件' }).fill('router');
  await item(page, /^router\.rs/).tap();
  await lines(page).filter({ hasText: 'trim_end' }).first().waitFor();
  await page.getByRole('button', { name: '评论第 5 行' }).first().tap();
  await page.getByRole('textbox').fill('为什么？');
  await page.getByRole('button', { name: '添加评论' }).tap();
  await picture(page, 'changes-phone-file');
  await assertNothingFound(page, 'a file on a phone');
  await page.getByRole('button', { name: '返回文件列表' }).tap();
  await page.getByRole('button', { name: '发送 1 条评论' }).waitFor();
  await page.context().close();
});

test('RV-9: hostile names and contents are text, and the layout holds', async () => {
  const chat = await stage.chat({ agent_mode: 'act' });
  await perform(chat, 'Hello');
  const name = `/${PAYLOADS[0].replaceAll('/', '')}.txt`;
  await perform(chat, order([['write', { path: name, content: `${PAYLOADS.join('\n')}\n${'x'.repeat(50_000)}\n${'<b>'.repeat(400)}\n\u202eevil\n@@ -1 +1 @@\n` }], ['write', { path: `/${'deep/'.repeat(20)}${'n'.repeat(120)}.rs`, content: 'fn a() {}\n' }]]));
  const page = await openChanges(chat);
  await lines(page).filter({ hasText: 'window.ran' }).first().waitFor();
  assert.ok(await nothingRan(page));
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nothing is wider than the window');
  await page.keyboard.press('c');
  await page.keyboard.type(PAYLOADS[0]);
  await page.keyboard.press('Control+Enter');
  await page.getByRole('button', { name: 'Send 1 comment' }).click();
  await page.getByText('1 comment sent.').first().waitFor();
  await page.keyboard.press('Shift+Z');
  await dialogOf(page).getByRole('button', { name: 'Take back file' }).waitFor();
  assert.ok(await nothingRan(page));
  await picture(page, 'changes-hostile');
  await page.context().close();
});

test('RV-8: a deletion is shown once and denied with a reason, which reaches the model; a grant is revoked', async () => {
  const chat = await stage.chat({ agent_mode: 'act' });
  await perform(chat, 'Hello');
  for (const name of ['gone-1.rs', 'gone-2.rs']) writeFileSync(join(stage.workspace, name), 'pub struct Gone;\n\nimpl Gone {}\n');
  const page = await stage.open(chat);
  const bar = barOf(page);
  await stage.say(chat, order([['rm', { path: '/gone-1.rs' }]]));
  await bar.getByText('Delete 1 file, 3 lines?').waitFor();
  await bar.getByRole('list', { name: 'What would be deleted' }).getByText('pub struct Gone;').waitFor();
  await bar.getByText('Can be taken back').waitFor();
  await picture(page, 'approval-delete');
  await assertNothingFound(page, 'an approval');
  await settled(page);
  await page.keyboard.press('Alt+q');
  await page.waitForFunction(() => document.activeElement?.closest('section[data-kind]'));
  await page.keyboard.press('Alt+r');
  await page.keyboard.type('The client still imports it.');
  await picture(page, 'approval-reason');
  await page.keyboard.press('Enter');
  await bar.waitFor({ state: 'detached' });
  await atRest(stage, chat);
  assert.ok(existsSync(join(stage.workspace, 'gone-1.rs')));
  const { messages } = await stage.snapshot(chat);
  assert.ok(messages.some(({ message_type, content }) => message_type === 'tool_result' && content.includes('The client still imports it.')), 'the model reads the reason');

  await stage.say(chat, order([['rm', { path: '/gone-1.rs' }]]));
  await bar.getByRole('button', { name: 'More' }).click();
  await bar.getByRole('button', { name: /^Always allow/ }).click();
  await until(() => !existsSync(join(stage.workspace, 'gone-1.rs')), 'the deletion');
  await atRest(stage, chat);
  await page.getByRole('banner').getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'Always allowed…' }).click();
  await dialogOf(page).getByText('rm in /').waitFor();
  await picture(page, 'grants');
  await assertNothingFound(page, 'the list of grants');
  await dialogOf(page).getByRole('button', { name: 'Revoke rm in /' }).click();
  await dialogOf(page).getByText('Nothing is always allowed in this chat.').waitFor();
  await page.keyboard.press('Escape');
  await stage.say(chat, order([['rm', { path: '/gone-2.rs' }]]));
  await bar.getByText('Delete 1 file, 3 lines?').waitFor();
  assert.ok(existsSync(join(stage.workspace, 'gone-2.rs')), 'it asks again');
  await page.context().close();
});

test('RV-9: axe finds nothing on the page, in both themes and languages', async () => {
  for (const locale of ['en', 'zh']) {
    const page = await openChanges(reviewed, { locale, query: '?file=/src/http/problem.rs' });
    await page.locator('[data-head="/src/http/problem.rs"]').waitFor();
    await page.keyboard.press('c');
    await assertNothingFound(page, `the page of the changes, ${locale}`);
    await picture(page, `changes-page-${locale}`);
    await page.context().close();
  }
});
