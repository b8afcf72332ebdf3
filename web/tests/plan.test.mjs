// Plans in a real browser, against the real binary: reviewed, revised, compared, approved, carried out.
import assert from 'node:assert/strict';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { OBEDIENT, PAYLOADS, Stage, answered, atRest, barOf, nothingRan, picture, settled } from './stage.mjs';
import { until } from './support.mjs';

let stage;
before(async () => {
  stage = await Stage.set(OBEDIENT);
});

const step = (step_number, action, more = {}) => ({ step_number, action, reason: `Because of ${step_number}.`, tools_needed: ['edit'], estimated_time: '5 min', files: ['/src/lib.rs'], ...more });
const planOf = (goal) => ({
  goal,
  steps: [step(1, 'Add a limiter keyed by tenant', { verify: 'true' }), step(2, 'Wire it into the router'), step(3, 'Write tests and run the suite')],
  estimated_total_time: '15 min',
  risks: ['Clients may see 429'],
  prerequisites: ['A tenant id'],
  assumptions: ['One process'],
  validation: ['cargo test'],
});
let goals = 0;
/** A chat with a plan of its own, which is shown in the chat, or `beside` it; `raise` puts its approval card up. */
const planned = async ({ raise = false, beside = false, ...options } = {}) => {
  const goal = `Limit requests ${(goals += 1)}`;
  const chat = await stage.chat();
  const page = await stage.open(chat, options);
  await stage.say(chat, `CALL write_plan ${JSON.stringify(planOf(goal))}`);
  const card = page.getByRole('article', { name: new RegExp(`Plan v\\d+: ${goal}$`) });
  await card.first().waitFor();
  await atRest(stage, chat);
  if (!beside) await togglePanel(page);
  const planFile = `/plans/limit-requests-${goals}.plan`;
  if (raise) {
    await stage.say(chat, `CALL exit_plan_mode ${JSON.stringify({ plan_file_path: planFile })}`);
    await barOf(page).waitFor();
  }
  return { chat, page, card, goal, planFile, bar: barOf(page) };
};
const panelOf = (page) => page.getByRole('region', { name: 'Plan', exact: true });
const togglePanel = (page) => page.keyboard.press('Control+j');
const inMode = (page, mode) => page.getByRole('radio', { name: mode }).and(page.locator('[aria-checked="true"], :checked')).waitFor();
const sent = async (chat) => (await stage.snapshot(chat)).messages.filter((message) => message.author === 'user').at(-1);

test('a plan shows its steps, reasons, files, tools, times, risks and prerequisites once: beside the chat, else in the history', async () => {
  const { page, card, goal } = await planned({ beside: true });
  const execute = page.getByRole('button', { name: 'Execute plan' });
  const shows = async (place) => {
    for (const text of ['Add a limiter keyed by tenant', 'Because of 1.', '/src/lib.rs', 'edit', '5 min', 'Clients may see 429', 'A tenant id', 'One process', 'cargo test']) await place.getByText(text, { exact: true }).first().waitFor();
  };
  await panelOf(page).getByText(goal).waitFor();
  await panelOf(page).getByText('0 of 3 done').waitFor();
  await shows(panelOf(page));
  await card.getByText('Shown beside').waitFor();
  await card.getByText('3 steps, 1 file, about 15 min').waitFor();
  assert.equal(await card.getByText('Because of 1.').count(), 0, 'the card is folded');
  assert.equal(await execute.count(), 1, 'beside the chat');
  await card.getByRole('button', { name: 'Show the plan' }).click();
  await shows(card);
  assert.equal(await execute.count(), 1, 'also when the card is opened');
  await card.getByRole('button', { name: 'Fold' }).click();
  await togglePanel(page);
  await card.getByRole('button', { name: 'Show the plan' }).click();
  await card.getByText(goal).waitFor();
  await shows(card);
  assert.equal(await execute.count(), 1, 'in the card');
  await picture(page, 'plan-card');
  assert.deepEqual(page.faults, []);
});

test('the approval card by clicks: accepted, it switches to Build and starts', async () => {
  const { page, bar, goal } = await planned({ raise: true });
  await bar.getByText(goal).waitFor();
  await picture(page, 'plan-approval');
  await bar.getByRole('button', { name: 'Accept & build' }).click();
  await inMode(page, 'Build');
  await page.getByText('Ready to build.').waitFor();
  await page.locator('[data-answer]').filter({ hasText: 'Accepted' }).waitFor();
});

test('the approval card by keyboard alone', async () => {
  const { page, bar } = await planned({ raise: true });
  await page.keyboard.press('Alt+q');
  await page.waitForFunction(() => document.activeElement?.closest('section[data-kind="plan_approval"]'));
  for (let presses = 0; presses < 5; presses += 1) {
    if (await bar.getByRole('button', { name: 'Accept & build' }).evaluate((button) => button === document.activeElement)) break;
    await page.keyboard.press('Tab');
  }
  await bar.getByRole('button', { name: 'Accept & build' }).and(page.locator(':focus')).waitFor();
  await settled(page);
  await page.keyboard.press('Enter');
  await inMode(page, 'Build');
  await page.getByText('Ready to build.').waitFor();
});

test('keeping planning stays in Plan and takes the wish along', async () => {
  const { chat, page, bar } = await planned({ raise: true });
  await bar.getByRole('textbox').fill('Smaller steps, please');
  await bar.getByRole('button', { name: 'Keep planning' }).click();
  await answered(page);
  await inMode(page, 'Plan');
  await page.getByText('Kept planning').waitFor();
  const message = await sent(chat);
  assert.equal(message.metadata.comment, 'Smaller steps, please');
});

test('comments on steps become the feedback for the next version, which shows what changed', async () => {
  const { chat, page, card, goal } = await planned();
  await card.getByRole('button', { name: 'Comment on step 2' }).click();
  await card.getByLabel('Your comment on step 2').fill('As a layer');
  await card.getByRole('button', { name: 'Comment on step 3' }).click();
  await card.getByLabel('Your comment on step 3').fill('Under load');
  await card.getByRole('button', { name: 'Request changes' }).click();
  await card.getByLabel('What should change in the plan?').fill('Keep it small.');
  await card.getByText('2 comments').last().waitFor();
  await picture(page, 'plan-comments');
  await card.getByRole('button', { name: 'Send feedback' }).last().click();
  const { content, metadata } = await until(async () => {
    const message = await sent(chat);
    return message.metadata.comments && message;
  }, 'the comments');
  assert.match(content, /^Keep it small\.[^]*As a layer[^]*Under load/);
  assert.deepEqual(metadata.comments.map(({ step, text }) => [step, text]), [[2, 'As a layer'], [3, 'Under load']]);
  await atRest(stage, chat);

  const revised = planOf(goal);
  revised.steps[1].action = 'Wire it into the router as a layer';
  revised.steps.splice(2, 0, step(3, 'Measure memory'));
  revised.steps[3].step_number = 4;
  revised.risks = [];
  await stage.say(chat, `CALL write_plan ${JSON.stringify(revised)}`);
  await page.locator('[data-plan="2"]').waitFor();
  await atRest(stage, chat);
  const newest = page.locator('[data-plan="2"]');
  await newest.getByRole('button', { name: 'Changes since v1' }).click();
  await newest.locator('[data-change="changed"]').getByText('as a layer').waitFor();
  await newest.locator('[data-change="added"]').getByText('Measure memory').waitFor();
  await newest.locator('del').filter({ hasText: 'Clients may see 429' }).waitFor();
  await picture(page, 'plan-diff');

  await togglePanel(page);
  const panel = panelOf(page);
  await panel.getByLabel('Compare with').selectOption({ label: 'v1' });
  await panel.locator('[data-change="added"]').getByText('Measure memory').waitFor();
  await panel.getByLabel('Version').selectOption({ index: 1 });
  await panel.getByText('older version').waitFor();
  await panel.getByText('v2 is newer than this version.').waitFor();
  assert.deepEqual(page.faults, []);
});

test('Execute plan says why it can not be pressed: a newer version, a question, a run, the end', async () => {
  const { chat, page, card, goal } = await planned();
  const execute = (place) => place.getByRole('button', { name: 'Execute plan' });
  await stage.ask(chat, { name: 'word', question: 'A word?', schema: { type: 'string' } });
  await barOf(page).waitFor();
  await card.getByText('Answer the open question first.').waitFor();
  assert.equal(await execute(card).getAttribute('aria-disabled'), 'true');
  await execute(card).click({ force: true });
  await barOf(page).waitFor();
  await inMode(page, 'Plan');
  await stage.answer(chat, { word: 'x' });
  await answered(page);
  await atRest(stage, chat);

  await stage.say(chat, `CALL write_plan ${JSON.stringify({ ...planOf(goal), estimated_total_time: '20 min' })}`);
  await page.locator('[data-plan="2"]').waitFor();
  await atRest(stage, chat);
  const older = page.locator('[data-plan="1"]');
  // The history is drawn only where one looks.
  await page.getByRole('log').evaluate((history) => (history.scrollTop = 0));
  await older.getByRole('button', { name: 'Show the plan' }).click();
  await older.getByText('v2 is newer than this version.').waitFor();
  const newest = page.locator('[data-plan="2"]');
  await page.getByRole('log').evaluate((history) => (history.scrollTop = history.scrollHeight));
  await execute(newest).click();
  await inMode(page, 'Build');
  await page.getByText('Ready to build.').waitFor();
  const steps = [1, 2, 3].map((step_number) => `CALL update_step ${JSON.stringify({ step_number, status: 'skipped' })}`);
  await stage.say(chat, steps.join('\n'));
  await newest.getByText('This plan was executed.').waitFor();
});

test('while the agent is at work, Execute plan says so; without a connection as well', async () => {
  const { chat, page, card } = await planned();
  const stop = () => stage.call('POST', `${chat.api}/stop`, {});
  await stage.call('PATCH', chat.api, { agent_mode: 'act' });
  await stage.say(chat, 'Hello');
  await page.getByText('Ready to build.').waitFor();
  await atRest(stage, chat);
  await stage.say(chat, 'CALL run {"command": "sleep 600"}');
  await card.getByText('The agent is working.').waitFor();
  await stop();
  await card.getByText('The agent is working.').waitFor({ state: 'detached' });
  await stage.end('SIGKILL');
  try {
    await card.getByText('Can’t reach the server.').waitFor();
  } finally {
    await stage.start();
  }
  await card.getByText('Can’t reach the server.').waitFor({ state: 'detached' });
});

test('progress is live: in the card, beside the chat, and above the composer', async () => {
  const { chat, page, card } = await planned();
  await card.getByRole('button', { name: 'Execute plan', disabled: false }).focus();
  await page.keyboard.press('Control+Enter');
  await inMode(page, 'Build');
  await page.getByText('Ready to build.').waitFor();
  await atRest(stage, chat);
  const dock = page.locator('[data-progress]');
  await dock.getByText('0 of 3').waitFor();
  await stage.say(chat, 'CALL update_step {"step_number": 1, "status": "done"}\nCALL update_step {"step_number": 2, "status": "in_progress"}');
  await dock.getByText('1 of 3').waitFor();
  await dock.getByText('Step 2: Wire it into the router').waitFor();
  await card.locator('[data-step="1"][data-status="done"]').waitFor();
  await card.locator('[data-step="2"][data-status="in_progress"]').waitFor();
  await card.getByText('1 of 3 done').waitFor();
  const heads = page.getByRole('log').getByRole('heading', { level: 2, name: /^Step/ });
  await heads.filter({ hasText: /^Step 1Add a limiter keyed by tenantdone/ }).waitFor();
  await heads.filter({ hasText: /^Step 2Wire it into the routerin progress/ }).waitFor();
  assert.equal(await heads.count(), 2, 'each step that was begun has one heading');
  await togglePanel(page);
  await panelOf(page).getByText('1 of 3 done').waitFor();
  await panelOf(page).locator('[data-step="2"][data-status="in_progress"]').waitFor();
  await picture(page, 'plan-progress');
  await page.reload();
  await dock.getByText('1 of 3').waitFor();
});

test('a plan that was edited by hand since it was shown is shown anew before it can be approved', async () => {
  const { page, card, planFile } = await planned();
  const path = join(stage.workspace, planFile);
  writeFileSync(path, readFileSync(path, 'utf8').replace('Wire it into the router', 'Wire it in elsewhere'));
  const bar = barOf(page);
  // The answer comes after the new version, which folds this one: the refusal must be seen all the same.
  await page.route('**/execute', async (route) => {
    const response = await route.fetch();
    await bar.getByText('This plan was edited after it was last shown.').waitFor();
    await route.fulfill({ response });
  });
  await card.getByRole('button', { name: 'Execute plan' }).click();
  await card.getByText('The plan has changed since it was shown.').waitFor();
  await page.unrouteAll();
  await inMode(page, 'Plan');
  await picture(page, 'plan-stale');
  await bar.getByRole('button', { name: 'Accept & build' }).click();
  await inMode(page, 'Build');
  await togglePanel(page);
  const panel = panelOf(page);
  await panel.getByText('Wire it in elsewhere').waitFor();
  await panel.getByLabel('Compare with').selectOption({ label: 'v1' });
  await panel.locator('[data-change="added"]').getByText('Wire it in elsewhere').waitFor();
  assert.equal(await panel.locator('del').filter({ hasText: 'Clients may see 429' }).count(), 0, 'risks are not told as removed');
});

test('files that changed since the plan was written are named before it is carried out, and in the history', async () => {
  const { page, card } = await planned();
  appendFileSync(join(stage.workspace, 'src/lib.rs'), '\n// Changed meanwhile.\n');
  await card.getByRole('button', { name: 'Execute plan' }).click();
  const dialog = page.getByRole('alertdialog', { name: 'Files changed since the plan was written' });
  await dialog.getByText('/src/lib.rs (changed)').waitFor();
  await dialog.getByRole('button', { name: 'Back to the plan' }).click();
  await dialog.waitFor({ state: 'detached' });
  await inMode(page, 'Plan');
  await togglePanel(page);
  const note = panelOf(page).getByRole('note');
  await note.getByText('/src/lib.rs').waitFor();
  await panelOf(page).getByRole('button', { name: 'Execute plan' }).click();
  await dialog.getByRole('button', { name: 'Execute anyway' }).click();
  await inMode(page, 'Build');
  await page.getByRole('log').getByRole('note').filter({ hasText: 'Files changed since the plan was written' }).getByText('/src/lib.rs (changed)').waitFor();
  await note.getByText('Files changed since the plan was written').waitFor();
  await note.getByText('/src/lib.rs').waitFor();
  await picture(page, 'plan-drift');
});

test('the plan is edited by hand with the linter beside it, and is then the newest version everywhere', async () => {
  const { page, planFile } = await planned({ beside: true });
  const path = join(stage.workspace, planFile);
  await panelOf(page).getByRole('button', { name: 'Edit by hand' }).click();
  const editor = page.getByRole('dialog', { name: 'Edit the plan' });
  const text = editor.getByLabel('Text of the plan');
  await editor.getByText('No findings').waitFor();
  await text.and(page.locator(':focus')).waitFor();
  const original = await text.inputValue();
  assert.equal(original, readFileSync(path, 'utf8'));
  await text.fill('Nothing of a plan');
  await editor.getByText('the plan has no steps').waitFor();
  assert.ok(await editor.getByRole('button', { name: 'Save' }).isDisabled());
  await page.keyboard.press('Escape');
  await page.getByRole('alertdialog', { name: 'Discard your changes?' }).getByRole('button', { name: 'Keep editing' }).click();
  assert.equal(await text.inputValue(), 'Nothing of a plan', 'what was typed is not lost by a key');
  await text.fill(original.replace('2. Wire it into the router', '5. Wire it in by hand'));
  await editor.getByText('this should be step 2, not 5').waitFor();
  await picture(page, 'plan-editor');
  await text.fill(original.replace('Wire it into the router', 'Wire it in by hand'));
  await editor.getByText('No findings').waitFor();
  await editor.getByRole('button', { name: 'Save' }).click();
  await editor.waitFor({ state: 'detached' });
  assert.match(readFileSync(path, 'utf8'), /Wire it in by hand/);
  const edited = page.locator('[data-plan]').filter({ hasText: 'edited by hand' });
  await edited.getByText('Shown beside').waitFor();
  const shows = async (place) => {
    for (const words of ['edited by hand', 'Wire it in by hand', 'Clients may see 429', 'A tenant id', 'about 15 min']) await place.getByText(words).first().waitFor();
  };
  await shows(panelOf(page));
  await togglePanel(page);
  await shows(edited);
  await edited.getByRole('button', { name: 'Execute plan' }).click();
  await inMode(page, 'Build');
  assert.deepEqual(page.faults, []);
});

test('remarks that were not sent are kept over a reload, and asked about before the plan is carried out without them', async () => {
  const { chat, page, card, bar } = await planned({ raise: true });
  await card.getByRole('button', { name: 'Comment on step 2' }).click();
  await card.getByLabel('Your comment on step 2').fill('As a layer');
  await page.reload();
  await bar.getByText('Keep planning also sends 1 comment on the steps.').waitFor();
  await togglePanel(page);
  assert.equal(await card.getByLabel('Your comment on step 2').inputValue(), 'As a layer');
  const dialog = page.getByRole('alertdialog', { name: 'Execute without your comments?' });
  await bar.getByRole('button', { name: 'Accept & build' }).click();
  await dialog.getByRole('button', { name: 'Back to the plan' }).click();
  await dialog.waitFor({ state: 'detached' });
  await card.getByRole('button', { name: 'Execute plan' }).click();
  await dialog.getByRole('button', { name: 'Back to the plan' }).click();
  await inMode(page, 'Plan');
  await bar.getByRole('button', { name: 'Keep planning' }).click();
  await answered(page);
  assert.match((await sent(chat)).metadata.comment, /- Step 2 \(Wire it into the router\): As a layer/);
});

test('payloads in a plan are text', async () => {
  const chat = await stage.chat();
  const page = await stage.open(chat);
  const [one, two, three, four, five] = PAYLOADS;
  const plan = { goal: `Goal ${one}`, steps: [step(1, two, { reason: three, files: ['/src/lib.rs'], tools_needed: [four], estimated_time: five, verify: `echo '${one}'` })], risks: PAYLOADS, prerequisites: PAYLOADS };
  await stage.say(chat, `CALL write_plan ${JSON.stringify(plan)}`);
  await panelOf(page).getByText(two).first().waitFor();
  assert.ok(await nothingRan(page));
  await togglePanel(page);
  await page.locator('[data-plan]').getByText(two).first().waitFor();
  assert.ok(await nothingRan(page));
  await page.locator('[data-plan]').getByRole('button', { name: 'Comment on step 1' }).click();
  await page.locator('[data-plan]').getByLabel('Your comment on step 1').fill(PAYLOADS.join(' '));
  await page.locator('[data-plan]').getByRole('button', { name: 'Send feedback' }).click();
  await page.getByText('Revise the plan (v1):').waitFor();
  assert.ok(await nothingRan(page));
  assert.deepEqual(page.faults, []);
});
