// Whole reviews by mouse, by keyboard alone and by touch on a phone, in both languages: a plan, its execution in part, changes, a deletion, what was always allowed.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { REVIEWED as CHANGED } from './changes-content.mjs';
import { HANDS } from './hands.mjs';
import { REVIEWED, REVIEWED_FILES } from './review-plan.mjs';
import { OBEDIENT, Stage, atRest, barOf, settled } from './stage.mjs';
import { composer, startServer, until } from './support.mjs';
import { wordsOf } from './words.mjs';

const stage = new Stage();
let changed;
before(async () => {
  stage.server = await startServer({ model: OBEDIENT, files: { ...REVIEWED_FILES, ...CHANGED.before }, folder: 'orders-api' });
  stage.workspace = stage.server.workspace;
  changed = await changedChat();
});

const order = (calls) => calls.map(([tool, args]) => `CALL ${tool} ${JSON.stringify(args)}`).join('\n');
const place = (name) => join(stage.workspace, name);
const newestPlan = async (chat) => (await stage.snapshot(chat)).messages.findLast((message) => message.message_type === 'plan');
const newestOfUser = async (chat) => (await stage.snapshot(chat)).messages.findLast((message) => message.author === 'user');

/** Says something, allows what asks, until the run is over. */
async function perform(chat, text) {
  const { message } = await stage.say(chat, text);
  await until(async () => (await stage.snapshot(chat)).messages.some(({ id }) => id > message.id), 'the run');
  await until(async () => {
    const { pending_question, chat: now } = await stage.snapshot(chat);
    if (pending_question) await stage.answer(chat, { decision: 'approve' });
    return now.state === 'idle';
  }, 'the end of the run');
}

/** A chat whose plan of twelve steps changed thirty-one files. */
async function changedChat() {
  const chat = await stage.chat({ title: 'Idempotency keys for POST /v1/orders', agent_mode: 'act' });
  await perform(chat, 'Hello');
  await perform(chat, order(CHANGED.steps.flat().filter(([tool]) => tool !== 'update_step')));
  return chat;
}

/** The page of a plan, and how to find things on it. */
async function openPlan(chat, hand, locale, t) {
  const page = await stage.visit(`${chat.url}/plan`, { locale, ...hand.options });
  const step = (number) => page.locator(`#step-${number}`);
  await step(1).waitFor();
  const version = (revision) => page.getByLabel(t('version'), { exact: true }).locator('option:checked', { hasText: `v${revision}` }).waitFor({ state: 'attached' });
  return { page, step, version, button: (key) => page.getByRole('button', { name: new RegExp(`^${t(key)}( ?(Ctrl|⌘).*)?$`) }).last() };
}

/** To a step: by J, by its heading, or on a phone by opening it. */
async function goTo(page, hand, number) {
  const row = page.locator(`#step-${number}`);
  if (hand === HANDS.touch) {
    const fold = row.getByRole('button', { expanded: false }).first();
    if ((await fold.count()) > 0) await fold.tap();
    return;
  }
  if (hand === HANDS.mouse) {
    await row.evaluate((node) => node.scrollIntoView({ block: 'center' }));
    return row.getByRole('heading').first().click();
  }
  for (let step = 1; step <= number; step += 1) {
    await page.keyboard.press('j');
    await page.locator(`#step-${step}:focus`).waitFor();
  }
}

/** Steps 1 to 3, with a stop after 2, at which one of the three answers is given. */
async function executeInPart(page, chat, hand, t, answer) {
  await hand.press(page.getByRole('button', { name: t('options') }));
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel(t('whichSteps'), { exact: true }).fill('1-3');
  await dialog.getByLabel(t('stopLabel')).selectOption('2');
  await hand.press(dialog.getByRole('button', { name: t('executeSeveral', { count: 3 }) }));
  await until(async () => (await stage.snapshot(chat)).chat.progress?.stop_after === 2, 'the approval');
  assert.deepEqual((await stage.snapshot(chat)).chat.progress.chosen_steps, [1, 2, 3]);
  await atRest(stage, chat);
  await page.locator('#step-4').getByText(t('skipped')).waitFor();
  const report = (step) => perform(chat, order([['update_step', { step_number: step, status: 'skipped', note: 'x' }]]));
  await report(1);
  // A step that was left out can't be reported.
  await report(5);
  const told = (await stage.snapshot(chat)).messages.findLast(({ message_type }) => message_type === 'tool_result');
  assert.match(told.content, /PLAN_NOT_APPROVED: The user did not approve step 5/);
  await stage.say(chat, order([['update_step', { step_number: 2, status: 'skipped', note: 'x' }]]));
  const card = barOf(page);
  await card.getByText(t('stopTitle', { step: 2 })).waitFor();
  await settled(page);
  await hand.press(card.getByRole('button', { name: t({ continue: 'stopContinue', revise: 'stopRevise', end: 'stopEnd' }[answer]), exact: true }));
  await card.waitFor({ state: 'detached' });
  const isMet = { continue: ({ progress }) => progress?.stop_after === null, revise: ({ config }) => config.agent_mode === 'plan', end: ({ state }) => state === 'idle' }[answer];
  await until(async () => isMet((await stage.snapshot(chat)).chat), answer);
  await atRest(stage, chat);
}

let goals = 0;
const PLAN_WAYS = [['keys', 'en'], ['keys', 'zh'], ['mouse', 'zh'], ['touch', 'en'], ['touch', 'zh']];
for (const [way, locale] of PLAN_WAYS) {
  test(`RV-9:${way}-${locale} a plan of 12 steps is commented on, edited, reordered and revised; then steps 1 to 3 run with a stop after 2`, async () => {
    const hand = HANDS[way];
    const t = wordsOf(locale, 'planPage');
    const chat = await stage.chat();
    await stage.say(chat, `CALL write_plan ${JSON.stringify({ ...REVIEWED, goal: `${REVIEWED.goal} ${(goals += 1)}` })}`);
    await atRest(stage, chat);
    const { page, button, step, version } = await openPlan(chat, hand, locale, t);
    // To step 3, and a comment on it.
    await goTo(page, hand, 3);
    if (way === 'keys') await page.keyboard.press('c');
    else await hand.press(step(3).getByRole('button', { name: t('comment'), exact: true }));
    await page.getByLabel(t('yourComment', { step: 3 })).fill('Why a lock? 为什么加锁？');
    if (way === 'keys') await page.keyboard.press('Control+Enter');
    else await hand.press(button('addComment'));
    await step(3).locator('[data-draft]').waitFor();
    // It is rewritten, then moved up, with its comment.
    if (way === 'keys') await page.keyboard.press('e');
    else await hand.press(step(3).getByRole('button', { name: t('edit'), exact: true }));
    await page.getByRole('textbox', { name: t('check') }).fill('cargo test claims');
    if (way === 'keys') await page.keyboard.press('Control+Enter');
    else await hand.press(button('save'));
    await version(2);
    if (way === 'keys') {
      await page.locator('#step-3:focus').waitFor();
      await page.keyboard.press('Alt+Shift+ArrowUp');
    } else {
      await goTo(page, hand, 3);
      await hand.press(step(3).getByRole('button', { name: t('more', { step: 3 }) }));
      await hand.press(page.getByRole('menuitem', { name: t('moveUp') }));
    }
    await version(3);
    // Sent; the next version answers.
    await hand.press(page.getByRole('button', { name: way === 'touch' ? new RegExp(`^${t('comments')}\\s*1$`) : new RegExp(`^${t('requestChanges')}`) }));
    await hand.press(page.getByRole('dialog').getByRole('button', { name: t('send') }));
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await atRest(stage, chat);
    const [comment] = (await newestOfUser(chat)).metadata.comments;
    assert.deepEqual([comment.step, comment.text], [2, 'Why a lock? 为什么加锁？']);
    const { metadata } = await newestPlan(chat);
    assert.deepEqual([metadata.plan.steps[1].action, metadata.plan.steps[1].verify], [REVIEWED.steps[2].action, 'cargo test claims']);
    await stage.say(chat, `CALL read ${JSON.stringify({ path: metadata.plan_file })}`);
    await atRest(stage, chat);
    await stage.say(chat, `CALL write_plan ${JSON.stringify({ ...metadata.plan, risks: ['Locks'], comments: [{ id: comment.id, outcome: 'done', note: 'None is taken now.' }] })}`);
    await version(4);
    await atRest(stage, chat);
    if (way === 'touch') await goTo(page, hand, 2);
    await step(2).locator('[data-note=done]').getByText('None is taken now.').waitFor();
    await executeInPart(page, chat, hand, t, way === 'mouse' ? 'revise' : way === 'keys' ? 'continue' : 'end');
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nothing is wider than the window');
    assert.deepEqual(page.faults, []);
  });
}

const FILE_WAYS = [['mouse', 'en', 'src/http/router.rs'], ['mouse', 'zh', 'src/http/problem.rs'], ['keys', 'zh', 'src/jobs/mod.rs'], ['touch', 'en', 'src/db/mod.rs'], ['touch', 'zh', 'src/db/tx.rs']];
for (const [way, locale, file] of FILE_WAYS) {
  test(`RV-9:${way}-${locale} a file of 31 is viewed, commented on, its hunk and the file taken back; what changed meanwhile is a conflict`, async () => {
    const hand = HANDS[way];
    const t = wordsOf(locale, 'work', 'changesPage');
    const page = await stage.visit(`${changed.url}/changes?file=/${file}`, { locale, ...hand.options });
    const head = page.locator(`[data-head="/${file}"]`).first();
    await head.waitFor();
    const text = page.locator(`.diff-line[data-row^="/${file}"]`).filter({ hasText: 'trim_end' }).first();
    await text.waitFor();
    const dialog = page.getByRole('dialog');
    // A comment on a line, sent.
    if (way === 'keys') {
      await page.keyboard.press('n');
      await page.locator('.diff-line[data-cursor]').waitFor();
      await page.keyboard.press('c');
    } else await hand.press(text.getByRole('button').first());
    await page.getByRole('textbox').last().fill('Why trim the end? 为什么？');
    if (way === 'keys') await page.keyboard.press('Control+Enter');
    else await hand.press(page.getByRole('button', { name: new RegExp(`^${t('addComment')}`) }));
    if (way === 'touch') await hand.press(page.getByRole('button', { name: t('backToList') }));
    await hand.press(page.getByRole('button', { name: t('send', { count: 1 }) }));
    await until(async () => (await newestOfUser(changed)).metadata.comments?.[0].path === `/${file}`, 'the comment');
    await atRest(stage, changed);
    if (way === 'touch') await page.goto(`${changed.url}/changes?file=/${file}`);
    await text.waitFor();
    // A hunk: looked at, taken back, and undone.
    if (way === 'keys') await page.keyboard.press('z');
    else await hand.press(page.getByRole('button', { name: new RegExp(`^${t('takeBackHunk')}`) }).first());
    await hand.press(dialog.getByRole('button', { name: t('takeBackHunk'), exact: true }));
    await page.getByText(t('hunkTakenBack')).first().waitFor();
    await hand.press(page.getByRole('button', { name: t('undo') }).last());
    await until(() => readFileSync(place(file), 'utf8').includes('trim_end'), 'the undone hunk');
    await atRest(stage, changed);
    // With its only hunk the file had left the list for a moment, and the page its place.
    await page.goto(`${changed.url}/changes?file=/${file}`);
    await head.waitFor();
    await text.waitFor();
    // Somebody else changes the file while its hunk is looked at: nothing happens, and it is said.
    const content = '// mine\n';
    writeFileSync(place(file), content);
    if (way === 'keys') await page.keyboard.press('Shift+Z');
    else await hand.press(head.getByRole('button', { name: t('takeBackFileOf', { path: file }) }));
    await dialog.getByRole('alert').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    // Viewed.
    if (way === 'keys') await page.keyboard.press('v');
    else if (way === 'touch') await head.getByRole('checkbox').tap();
    else await head.getByRole('checkbox').click();
    await until(async () => (await stage.call('GET', `${changed.api}/viewed`)).some(({ path }) => path === `/${file}`), 'the mark');
    if (way === 'touch') {
      // The file in the address of this page is not one to open in the chat.
      await page.getByRole('banner').getByRole('link', { name: /^(Chat|对话)$/ }).tap();
      await composer(page).waitFor();
    }
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nothing is wider than the window');
    assert.deepEqual(page.faults, []);
  });
}

const DENIAL_WAYS = [['mouse', 'zh'], ['keys', 'zh'], ['touch', 'en'], ['touch', 'zh']];
for (const [way, locale] of DENIAL_WAYS) {
  test(`RV-8:${way}-${locale} a deletion is denied with a reason, which reaches the model; what was always allowed is revoked`, async () => {
    const hand = HANDS[way];
    const t = wordsOf(locale, 'question', 'approval');
    const chat = await stage.chat({ agent_mode: 'act' });
    await perform(chat, 'Hello');
    const name = `gone-${way}-${locale}.rs`;
    writeFileSync(place(name), 'pub struct Gone;\n');
    const page = await stage.open(chat, { locale, ...hand.options });
    const card = barOf(page);
    const ask = async () => {
      await stage.say(chat, order([['rm', { path: `/${name}` }]]));
      await card.getByText(t('deleteLinesTitle', { count: 1, lines: 1 })).waitFor();
      await settled(page);
    };
    await ask();
    await hand.press(card.getByRole('button', { name: new RegExp(`^${t('denyWithReason')}`) }));
    await card.getByRole('textbox').fill('The client imports it. 仍在使用。');
    if (way === 'keys') await page.keyboard.press('Enter');
    else await hand.press(card.getByRole('button', { name: new RegExp(`^${t('denyAndTell')}`) }));
    await card.waitFor({ state: 'detached' });
    await atRest(stage, chat);
    assert.ok((await stage.snapshot(chat)).messages.some(({ message_type, content }) => message_type === 'tool_result' && content.includes('The client imports it. 仍在使用。')), 'the model reads the reason');
    // Always, for a file that is there again afterwards; revoked from the card of the next kind.
    await ask();
    await hand.press(card.getByRole('button', { name: t('more'), exact: true }));
    await hand.press(card.getByRole('button', { name: new RegExp(`^${t('allowAlways')}`) }));
    await until(() => !existsSync(place(name)), 'the deletion');
    await atRest(stage, chat);
    await hand.press(page.getByRole('banner').getByRole('button', { name: /^(More|更多)$/ }));
    await hand.press(page.getByRole('menuitem', { name: /Always allowed…|始终允许/ }));
    await hand.press(page.getByRole('dialog').getByRole('button', { name: t('revokeOf', { tool: 'rm', folder: '/' }) }));
    await page.getByRole('dialog').getByText(t('grantsEmpty')).waitFor();
    await page.keyboard.press('Escape');
    writeFileSync(place(name), 'pub struct Gone;\n');
    await ask();
    assert.ok(existsSync(place(name)), 'it asks again');
    assert.deepEqual(page.faults, []);
  });
}
