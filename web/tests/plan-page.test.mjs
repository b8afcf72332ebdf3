// The page of a plan, against the real binary: read, commented on, edited, run in part; by mouse and by keyboard, on a desktop and on a phone.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { assertNothingFound } from './axe.mjs';
import { REVIEWED, REVIEWED_FILES } from './review-plan.mjs';
import { PAYLOADS, PHONE, Stage, atRest, barOf, nothingRan, picture, settled } from './stage.mjs';
import { startServer, until } from './support.mjs';

let stage;
before(async () => {
  stage = new Stage();
  stage.server = await startServer({ model: { act: [{ text: 'Ready to build.' }], obey: true }, files: REVIEWED_FILES, folder: 'orders-api' });
  stage.workspace = stage.server.workspace;
});

let goals = 0;
/** A chat with a plan of its own, and its page; `plan` replaces parts of the usual one. */
const planned = async (plan = {}) => {
  const goal = `${REVIEWED.goal} ${(goals += 1)}`;
  const chat = await stage.chat({ title: 'Idempotency keys for POST /v1/orders' });
  await stage.say(chat, `CALL write_plan ${JSON.stringify({ ...REVIEWED, goal, ...plan })}`);
  await atRest(stage, chat);
  return { chat, goal };
};
const open = async (chat, options = {}) => {
  const context = options.context ?? (await stage.context(options));
  const page = await context.newPage();
  page.faults = [];
  page.on('pageerror', (error) => page.faults.push(error.message));
  page.on('console', (message) => message.type() === 'error' && !message.text().startsWith('Failed to load') && page.faults.push(message.text()));
  await page.goto(`${chat.url}/plan`);
  await page.locator('#step-1').waitFor();
  return page;
};
const stepOf = (page, step) => page.locator(`#step-${step}`);
/** The same, in view: further away it is its words alone. */
const inView = async (page, step) => {
  await stepOf(page, step).evaluate((row) => row.scrollIntoView({ block: 'center' }));
  return stepOf(page, step);
};
const actions = async (chat) => (await newestPlan(chat)).metadata.plan.steps.map((step) => step.action);
const newestPlan = async (chat) => (await stage.snapshot(chat)).messages.findLast((message) => message.message_type === 'plan');
const version = (page, revision) => page.locator('select').first().locator('option:checked').and(page.locator(`option:text-is("v${revision}")`)).waitFor({ state: 'attached' });
/** Selects words of a step as a mouse would. */
const select = (page, step, words) =>
  stepOf(page, step).locator('[data-words]').evaluate((root, text) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const at = node.data.indexOf(text);
      if (at >= 0) return getSelection().setBaseAndExtent(node, at, node, at + text.length);
    }
    throw new Error(`no ${text}`);
  }, words);

test('a plan of 12 steps by mouse: read, commented on, edited, reordered; the next version answers each comment', async () => {
  const { chat, goal } = await planned();
  const page = await open(chat);
  await page.getByRole('heading', { name: goal }).waitFor();
  await page.getByText('12 steps, 31 files, about 1 h 20 min, 1 step asks you first').waitFor();
  await stepOf(page, 3).locator('strong', { hasText: 'Two replicas' }).waitFor();
  await stepOf(page, 1).getByRole('img', { name: 'new' }).first().waitFor();
  await stepOf(page, 2).getByRole('img', { name: 'changed' }).waitFor();
  await page.getByRole('region', { name: 'Findings' }).getByRole('button', { name: /^Warning Step 12 has no reason/ }).click();
  await stepOf(page, 12).getByText('has no reason', { exact: false }).waitFor();
  await page.getByRole('tree', { name: 'Files that the plan names' }).getByText('migrations/').click();
  await page.getByRole('treeitem').getByText('0042_keys.up.sql').waitFor();

  // A file is looked at without leaving the page.
  await (await inView(page, 2)).getByRole('link', { name: 'src/lib.rs' }).click();
  await page.getByRole('dialog', { name: 'Preview of a file' }).getByText('pub fn begin() {}').waitFor();
  await page.keyboard.press('Escape');

  // A comment on selected text, one on a step, one from a finding; they outlive a reload.
  await (await inView(page, 3)).hover();
  await select(page, 3, 'then inserts it');
  await stepOf(page, 3).getByRole('button', { name: 'Comment' }).click();
  await page.getByLabel('Your comment on step 3').fill('Insert first, lock only on conflict');
  await page.getByRole('button', { name: 'Add comment' }).click();
  assert.equal(await page.evaluate(() => [...CSS.highlights.get('plan-comment')].map(String).join()), 'then inserts it');
  await (await inView(page, 7)).getByRole('heading').first().click();
  await stepOf(page, 7).getByRole('button', { name: 'Comment' }).click();
  await page.getByLabel('Your comment on step 7').fill('Keep tests/dedupe.rs');
  await page.reload();
  await stepOf(page, 3).getByText('Insert first, lock only on conflict').waitFor();
  await page.getByLabel('Your comment on step 7').and(page.locator(':text("Keep tests/dedupe.rs")')).waitFor();
  await page.getByRole('button', { name: 'Add comment' }).click();
  await picture(page, 'plan-page-comments');

  // Edited in place: each edit is a version, and the file says the same.
  await (await inView(page, 9)).getByRole('heading').first().click();
  await stepOf(page, 9).getByRole('button', { name: 'Edit step' }).click();
  await page.getByRole('textbox', { name: 'Check command' }).fill('cargo test telemetry');
  await page.getByRole('textbox', { name: 'Files, one per line' }).fill('src/telemetry/metrics.rs\nsrc/telemetry/trace.rs');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await version(page, 2);
  await stepOf(page, 9).getByText('cargo test telemetry').waitFor();
  await inView(page, 2);
  const grip = await stepOf(page, 3).hover().then(() => stepOf(page, 3).locator('[title^="Drag step 3"]').boundingBox());
  const target = await stepOf(page, 1).boundingBox();
  await page.mouse.move(grip.x + 5, grip.y + 8);
  await page.mouse.down();
  await page.mouse.move(grip.x + 5, target.y + 6, { steps: 5 });
  await page.mouse.up();
  await version(page, 3);
  await (await inView(page, 1)).getByText('Insert first, lock only on conflict').waitFor();
  await (await inView(page, 12)).getByRole('heading').first().click();
  await stepOf(page, 12).getByRole('button', { name: 'More for step 12' }).click();
  await page.getByRole('menuitem', { name: 'Delete step' }).click();
  await version(page, 4);
  await page.getByRole('button', { name: 'Add a step', exact: true }).click();
  await page.getByRole('textbox', { name: 'Action' }).fill('Write the runbook');
  await page.getByRole('textbox', { name: 'Reason' }).fill('Somebody is on call.');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await version(page, 5);
  const steps = await actions(chat);
  assert.deepEqual([steps.length, steps[0], steps[1], steps[11]], [12, REVIEWED.steps[2].action, REVIEWED.steps[0].action, 'Write the runbook']);
  const file = readFileSync(join(stage.workspace, (await newestPlan(chat)).metadata.plan_file), 'utf8');
  assert.match(file, /1\. Claim a key[^]*9\. Count replays and conflicts[^]*files: src\/telemetry\/metrics\.rs, src\/telemetry\/trace\.rs[^]*verify: cargo test telemetry[^]*12\. Write the runbook/);
  assert.match(file, /revision: 5/);

  // Sent together; the next version says what became of each.
  await page.getByRole('button', { name: 'Request changes' }).click();
  const dialog = page.getByRole('dialog', { name: 'Request changes' });
  await dialog.getByText('Keep tests/dedupe.rs').waitFor();
  await dialog.getByLabel('About the plan as a whole').fill('Smaller where you can.');
  await dialog.getByRole('button', { name: 'Send to the Planner' }).click();
  await dialog.waitFor({ state: 'detached' });
  await atRest(stage, chat);
  const sent = (await stage.snapshot(chat)).messages.findLast((message) => message.author === 'user');
  assert.deepEqual(sent.metadata.comments.map(({ step, quote, text }) => [step, quote, text]), [[1, 'then inserts it', 'Insert first, lock only on conflict'], [7, '', 'Keep tests/dedupe.rs']]);
  assert.match(sent.content, /Smaller where you can\.[^]*Insert first, lock only on conflict/);
  assert.equal(await page.locator('[data-draft]').count(), 0);
  await (await inView(page, 1)).locator('[data-note=sent]').waitFor();
  const [first, second] = sent.metadata.comments;
  const revised = (await newestPlan(chat)).metadata.plan;
  revised.steps[0].reason = 'Inserts with ON CONFLICT DO NOTHING first.';
  // The user has edited the file, so the model reads it first.
  await stage.say(chat, `CALL read ${JSON.stringify({ path: (await newestPlan(chat)).metadata.plan_file })}`);
  await atRest(stage, chat);
  await stage.say(chat, `CALL write_plan ${JSON.stringify({ ...revised, comments: [{ id: first.id, outcome: 'done', note: 'Locks only on conflict now.' }, { id: second.id, outcome: 'declined', note: 'It tests code that is gone.' }] })}`);
  await version(page, 6);
  await stepOf(page, 1).locator('[data-note=done]').getByText('Locks only on conflict now.').waitFor();
  await (await inView(page, 7)).locator('[data-note=declined]').getByText('It tests code that is gone.').waitFor();
  await page.getByText('1 of 2 done').waitFor();
  await picture(page, 'plan-page-outcomes');

  // Versions are compared.
  await page.getByRole('button', { name: '1 change since v5' }).click();
  await page.locator('[data-change=changed]').getByText('ON CONFLICT').waitFor();
  await page.getByRole('button', { name: 'Back to the plan' }).click();
  await page.getByLabel('Version').selectOption({ label: 'v1' });
  await page.getByText('v6 is the newest version.').waitFor();
  assert.equal(await page.locator('[data-execute]').getAttribute('aria-disabled'), 'true');
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('any two versions are compared; comments of the panel stand on the page; the rail leaves the page its width, and tabs count', async () => {
  const { chat, goal } = await planned();
  for (const risks of [['Two'], ['Two', 'Three']]) {
    await stage.say(chat, `CALL write_plan ${JSON.stringify({ ...REVIEWED, goal, risks, steps: REVIEWED.steps.map((step) => ({ ...step, reason: `${step.reason} ${risks.length}` })) })}`);
    await atRest(stage, chat);
  }
  const page = await stage.open(chat);
  const tab = (name) => page.getByRole('navigation', { name: 'Pages of the chat' }).getByRole('link', { name });
  await tab('Plan v3').waitFor();
  const panel = page.getByRole('region', { name: 'Plan', exact: true });
  await panel.getByRole('button', { name: 'Comment on step 2' }).click();
  await panel.getByLabel('Your comment on step 2').fill('Written in the panel');
  await page.getByRole('navigation', { name: 'Chats' }).waitFor();
  await tab('Plan v3').click();
  await stepOf(page, 2).locator('[data-draft]').getByText('Written in the panel').waitFor();

  const rail = page.getByRole('navigation', { name: 'Planwright' });
  assert.equal((await rail.boundingBox()).width, 51);
  await assertNothingFound(page, 'the page with its rail');
  await page.keyboard.press('Control+b');
  const list = page.getByRole('dialog', { name: 'Chats' });
  await list.getByRole('navigation', { name: 'Chats' }).waitFor();
  await page.keyboard.press('Escape');
  await list.waitFor({ state: 'detached' });

  await page.getByRole('button', { name: /changes since v2$/ }).click();
  await page.getByRole('region', { name: 'Changes from v2 to v3' }).waitFor();
  await page.getByLabel('Compared with').selectOption({ label: 'v1' });
  await page.getByRole('region', { name: 'Changes from v1 to v3' }).waitFor();
  await page.getByLabel('Version', { exact: true }).selectOption({ label: 'v2' });
  await page.getByRole('region', { name: 'Changes from v1 to v2' }).waitFor();
  await page.getByLabel('Compared with').selectOption({ label: 'v3' });
  await page.getByRole('region', { name: 'Changes from v2 to v3' }).waitFor();
  assert.deepEqual(page.faults, []);
});

test('by keyboard alone, in Chinese: comment, edit, move, then steps 1 to 3 of 12 with a stop after 2, continued', async () => {
  const { chat } = await planned();
  const page = await open(chat, { locale: 'zh' });
  const press = (keys) => page.keyboard.press(keys);
  const reached = (step) => page.locator(`#step-${step}:focus`).waitFor();
  await press('j');
  await reached(1);
  await press('j');
  await reached(2);
  await press('c');
  await page.getByLabel('你对第 2 步的评论').and(page.locator(':focus')).waitFor();
  await page.keyboard.type('拒绝含空格的键');
  await press('Control+Enter');
  await stepOf(page, 2).getByText('拒绝含空格的键').waitFor();
  await reached(2);
  await press('Alt+Shift+ArrowDown');
  await version(page, 2);
  await stepOf(page, 3).getByText('拒绝含空格的键').waitFor();
  await press('Alt+Shift+ArrowUp');
  await version(page, 3);
  await press('e');
  await page.getByLabel('操作').and(page.locator(':focus')).waitFor();
  await press('End');
  await page.keyboard.type('，按租户隔离');
  await press('Control+Enter');
  await version(page, 4);
  await stepOf(page, 2).getByText('按租户隔离').waitFor();
  assert.equal((await actions(chat))[1], `${REVIEWED.steps[1].action}，按租户隔离`);

  // Stop after 2, leave out 4 to 12.
  await reached(2);
  await press('t');
  await page.getByText('在此停下等你。', { exact: false }).waitFor();
  await page.getByRole('button', { name: '选择步骤、停点或评论' }).focus();
  await press('Enter');
  const dialog = page.getByRole('dialog', { name: '执行计划' });
  await dialog.getByLabel('步骤', { exact: true }).focus();
  await press('Control+a');
  await page.keyboard.type('1-3');
  await dialog.getByLabel('给执行者的评论').focus();
  await page.keyboard.type('小步提交');
  await assertNothingFound(page, 'the dialog');
  await dialog.getByRole('button', { name: '执行 3 步' }).focus();
  await press('Enter');
  // A comment waits: that is asked about first.
  await page.getByRole('alertdialog').getByRole('button', { name: '不带评论执行' }).focus();
  await press('Enter');
  await until(async () => (await stage.snapshot(chat)).chat.progress?.stop_after === 2, 'the approval');
  const { progress } = (await stage.snapshot(chat)).chat;
  assert.deepEqual(progress.chosen_steps, [1, 2, 3]);
  await atRest(stage, chat);
  await stepOf(page, 4).getByText('本次不执行').waitFor();
  const report = (step) => stage.say(chat, `CALL update_step ${JSON.stringify({ step_number: step, status: 'skipped', note: 'x' })}`).then(() => until(async () => (await stage.snapshot(chat)).chat.state !== 'executing', 'the report'));
  await report(1);
  await atRest(stage, chat);
  await report(2);
  await barOf(page).getByText('第 2 步已完成，要继续吗？').waitFor();
  await barOf(page).getByText('接下来是第 3 步。').waitFor();
  await assertNothingFound(page, 'the stop');
  await picture(page, 'plan-page-stop-zh');
  await press('Alt+q');
  await settled(page);
  await barOf(page).getByRole('button', { name: '继续' }).focus();
  await press('Enter');
  await barOf(page).waitFor({ state: 'detached' });
  await until(async () => (await stage.snapshot(chat)).chat.progress?.stop_after === null, 'the steps after the stop');
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('a plan edited in two tabs: the second one is warned, loses nothing, and saves on top', async () => {
  const { chat } = await planned();
  const context = await stage.context();
  const [one, other] = [await open(chat, { context }), await open(chat, { context })];
  await stepOf(one, 2).focus();
  await one.keyboard.press('e');
  await one.getByLabel('Reason').fill('Written in the first tab');
  // The other tab must not hear of the first edit before it sends its own.
  let letGo;
  const held = new Promise((resolve) => (letGo = resolve));
  await other.route('**/plan', async (route) => (route.request().method() === 'PUT' ? (await held, route.continue()) : route.continue()));
  await stepOf(other, 1).focus();
  await other.keyboard.press('Alt+Shift+ArrowDown');
  await one.getByRole('button', { name: 'Save', exact: true }).click();
  await version(one, 2);
  letGo();
  await other.getByText('Can’t save. The plan changed meanwhile.').waitFor();
  await version(other, 2);
  await stepOf(other, 2).getByText('Written in the first tab').waitFor();

  await stepOf(one, 3).focus();
  await one.keyboard.press('e');
  await one.getByLabel('Reason').fill('Still here');
  await stepOf(other, 5).focus();
  await other.keyboard.press('Alt+Shift+ArrowUp');
  await version(other, 3);
  await one.getByText('The plan changed meanwhile. This is v3', { exact: false }).waitFor();
  assert.equal(await one.getByLabel('Reason').inputValue(), 'Still here');
  await one.getByRole('button', { name: 'Save', exact: true }).click();
  await version(one, 4);
  await stepOf(other, 3).getByText('Still here').waitFor();
  assert.deepEqual((await newestPlan(chat)).metadata.plan.steps.slice(1, 5).map(({ action }) => action), [1, 2, 4, 3].map((place) => REVIEWED.steps[place].action));
  await context.close();
});

test('on a phone: read, comment, stop and execute in part; the rail is sheets', async () => {
  const { chat } = await planned();
  const page = await open(chat, { size: PHONE });
  await stepOf(page, 3).getByRole('button').first().tap();
  await stepOf(page, 3).getByText('cargo test idempotency::store').waitFor();
  await picture(page, 'plan-page-phone');
  for (const locale of ['phone']) await assertNothingFound(page, locale);
  await stepOf(page, 3).getByRole('button', { name: 'Comment' }).tap();
  await page.getByLabel('Your comment on step 3').fill('Why a lock?');
  await page.getByRole('button', { name: 'Add comment' }).tap();
  await page.getByRole('button', { name: /^Comments\s*1$/ }).tap();
  await page.getByRole('dialog', { name: 'Request changes' }).getByText('Why a lock?').waitFor();
  await page.getByRole('dialog', { name: 'Request changes' }).getByRole('button', { name: 'Discard' }).tap();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: /31 files/ }).tap();
  await page.getByRole('dialog', { name: 'Details of the plan' }).getByRole('tree').waitFor();
  await page.keyboard.press('Escape');
  await stepOf(page, 3).getByRole('button', { name: 'Stop after' }).tap();
  await page.getByText('Stops here for you.', { exact: false }).waitFor();
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nothing is wider than the window');
  await page.getByRole('button', { name: 'Execute steps 1 to 3' }).tap();
  await until(async () => (await stage.snapshot(chat)).chat.progress?.stop_after === 3, 'the approval');
  await atRest(stage, chat);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('hostile names and contents run nothing and break no layout; axe finds nothing in either theme or language', async () => {
  const long = 'x'.repeat(400);
  const steps = [...PAYLOADS, long, '\u202egnp.exe', '# Heading\n\n| a | b |\n|---|---|\n| 1 | 2 |'].map((text, place) => ({ step_number: place + 1, action: `${place} ${text}`, reason: text, tools_needed: [text.slice(0, 60)], files: [`/src/${text.replaceAll('\n', ' ').slice(0, 200)}`], estimated_time: text.slice(0, 40), verify: text.replaceAll('\n', ' ') }));
  const { chat } = await planned({ goal: `${PAYLOADS[0]} ${long}`, steps, risks: PAYLOADS, prerequisites: [long] });
  for (const [locale, size] of [['en', undefined], ['zh', PHONE]]) {
    const page = await open(chat, { locale, size });
    if (size) await stepOf(page, 1).getByRole('button').first().tap();
    else {
      await stepOf(page, 2).focus();
      await page.keyboard.press('c');
      await page.keyboard.type(PAYLOADS[1]);
      await page.keyboard.press('Control+Enter');
      await stepOf(page, 2).locator('[data-draft]').waitFor();
    }
    await assertNothingFound(page, `hostile, ${locale}`);
    assert.ok(await nothingRan(page));
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth && document.querySelector('[data-scroller]').scrollWidth <= document.querySelector('[data-scroller]').clientWidth), `${locale}: nothing is wider than its place`);
    await picture(page, `plan-page-hostile-${locale}`);
    assert.deepEqual(page.faults, []);
    await page.context().close();
  }
});

test('axe finds nothing on the page while it is reviewed, in both themes and languages', async () => {
  const { chat } = await planned();
  for (const locale of ['en', 'zh']) {
    const page = await open(chat, { locale });
    await stepOf(page, 2).focus();
    await page.keyboard.press('c');
    await page.keyboard.type('x');
    await assertNothingFound(page, `a comment, ${locale}`);
    await page.keyboard.press('Escape');
    await page.keyboard.press('s');
    await stepOf(page, 4).focus();
    await page.keyboard.press('e');
    await page.locator('form').getByRole('textbox').first().waitFor();
    await assertNothingFound(page, `an edit, ${locale}`);
    await page.context().close();
  }
});
