// Home is an inbox over all workspaces: groups, rows, filters, keys, several at once; and every page tells of every chat.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { assertNothingFound } from './axe.mjs';
import { openAs, PEOPLE, seedTeam } from './seed.mjs';
import { PHONE } from './stage.mjs';
import { composer, newContext, startServer, until } from './support.mjs';

let team, mara;
before(async () => {
  team = await seedTeam(startServer);
  mara = team.people[PEOPLE[0]];
});

const open = (options) => openAs(newContext, team.server, PEOPLE[0], options);
const group = (page, name) => page.getByRole('region', { name, exact: true });
const row = (page, title) => page.getByRole('main').getByRole('listitem').filter({ hasText: title });
const links = (page, name) => group(page, name).getByRole('link').evaluateAll((all) => all.filter((link) => link.hasAttribute('data-row-link')).map((link) => link.textContent));

test('HM-1: the work of five workspaces stands in four groups, the gravest question first', async () => {
  const { page, faults } = await open();
  assert.deepEqual((await links(page, 'Needs you')).map((text) => text.split(/Plan|Build/)[0]), ['Delete src/webhooks/v1?', 'Should refunds over €500 be blocked, or queued for a second approver?', '', 'Change package.json?', '英文文档里有 14 页还没有中文译文，其中 5 页讲的是即将下线的 v1 接口。要把这 5 页也翻译出来，还是只翻译仍在使用的 9 页，并在旧页面顶部放一条指向英文原文的说明？']);
  const deletion = row(page, 'Remove the v1 webhooks, step 3');
  for (const words of ['billing-worker', '2 of 5', '$0.62', 'jon.okafor', '2 min', 'Review']) assert.ok((await deletion.innerText()).includes(words) || (await deletion.textContent()).includes(words), words);
  await deletion.getByRole('img', { name: 'Critical' }).waitFor();
  assert.match(await row(page, 'Idempotency keys').innerText(), /Plan v1 is ready: 12 steps, 31 files\. It needs your approval\.[\s\S]*Open plan/);
  assert.match(await row(page, 'Split order search').innerText(), /Change the callers[\s\S]*4 of 9[\s\S]*\$2\.10[\s\S]*18 min/);
  assert.match(await row(page, 'Cursor pagination').innerText(), /31 files[\s\S]*11 of 31 viewed/);
  assert.match(await row(page, 'Bump axum').innerText(), /Failed/);
  assert.deepEqual(await Promise.all(['Needs you', 'Running', 'To review', 'Recently done'].map((name) => group(page, name).getByRole('listitem').count())), [5, 3, 2, 20]);
  await row(page, 'Refund limits').getByRole('link').first().click();
  await page.getByRole('region', { name: 'Question of the agent' }).waitFor();
  assert.deepEqual(faults, []);
  await page.context().close();
});

test('HM-1: the groups follow what happens without a reload, and viewing the last file ends a review', async () => {
  const { page, faults } = await open();
  const made = await mara(`/workspaces/${team.workspaces['docs-site']}/chats`, 'POST', { title: 'From elsewhere' });
  await mara(`/workspaces/${made.workspace_id}/chats/${made.id}/messages`, 'POST', { content: 'Say something' });
  await group(page, 'Recently done').getByText('From elsewhere').waitFor();
  await row(page, 'Dark theme').getByRole('link').first().click();
  const boxes = page.getByRole('checkbox', { name: /^Viewed: / });
  await boxes.first().waitFor();
  for (let index = 0; index < 7; index += 1) {
    await boxes.nth(index).check();
  }
  await page.getByRole('link', { name: /Inbox/ }).click();
  await group(page, 'Recently done').getByText('Dark theme for the status page').waitFor();
  assert.equal(await group(page, 'To review').getByText('Dark theme').count(), 0);
  await page.reload();
  await group(page, 'Recently done').getByText('7 files, all viewed').waitFor();
  assert.deepEqual(faults, []);
  await page.context().close();
});

test('HM-1: a new task starts in the mode, role and workspace that were picked', async () => {
  const { page, faults } = await open();
  await page.getByRole('combobox', { name: 'Workspace', exact: true }).selectOption('infra-terraform');
  await page.getByRole('button', { name: /Mode and role.*Plan as Planner/ }).click();
  await page.getByRole('menuitemradio', { name: /Reviewer/ }).click();
  await page.getByRole('textbox', { name: 'First message of a new chat' }).fill('Look at the modules');
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await composer(page).waitFor();
  const id = page.url().split('/c/')[1];
  const chat = await mara(`/workspaces/${team.workspaces['infra-terraform']}/chats/${id}`);
  assert.equal(chat.config.agent_role, 'reviewer');
  assert.equal(chat.person, PEOPLE[0]);
  assert.deepEqual(faults, []);
  await page.context().close();
});

test('HM-3: filters by text, workspace, person, role and state find chats; the browser keeps them', async () => {
  const { page } = await open();
  await page.getByLabel('Filter by workspace').selectOption('storefront-web');
  const all = page.getByRole('main').getByRole('listitem');
  const ofStorefront = all.filter({ hasText: 'storefront-web' });
  const isOne = async () => (await all.count()) > 2 && (await all.count()) === (await ofStorefront.count());
  await until(isOne, 'the chats of one workspace');
  await page.reload();
  await until(isOne, 'the same chats after a reload');
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await page.getByLabel('Filter by person').selectOption('priya.nair');
  await row(page, 'Terraform 1.12').waitFor();
  assert.equal(await row(page, 'Refund limits').count(), 0);
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await page.keyboard.press('/');
  await page.keyboard.type('refunds over');
  await until(async () => (await page.getByRole('main').getByRole('listitem').count()) === 1, 'the chat with these words in its question');
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await page.getByLabel('Filter by role').selectOption('actor');
  await until(async () => (await row(page, 'Refund limits').count()) === 0, 'only chats of the Actor');
  await row(page, 'Split order search').waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await page.getByLabel('Filter by state').selectOption('all');
  await page.getByLabel('Filter by workspace').selectOption('orders-api');
  await until(async () => (await page.getByRole('main').getByRole('listitem').count()) === 14, 'all chats of a workspace');
  await page.context().close();
});

test('HM-3: keys move, select and put away; several chats are pinned, archived and deleted at once', async () => {
  const { page, faults } = await open();
  const focused = () => page.evaluate(() => document.activeElement?.textContent ?? '');
  await page.keyboard.press('j');
  assert.match(await focused(), /webhooks/);
  await page.keyboard.press('j');
  assert.match(await focused(), /refunds/);
  await page.keyboard.press('k');
  assert.match(await focused(), /webhooks/);
  await page.keyboard.press('e');
  await page.getByText('This chat is still at work. Answer or stop it first.').waitFor();

  const other = 'Keyboard trap in the cart';
  await row(page, other).getByRole('link').first().focus();
  await page.keyboard.press('e');
  await row(page, other).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Undo' }).click();
  await row(page, other).waitFor();

  for (const title of ['When invoices are sent twice', 'How proration rounds']) await mark(page, title);
  const bar = page.getByRole('toolbar', { name: '2 selected' });
  await bar.getByRole('button', { name: 'Pin', exact: true }).click();
  await until(async () => (await links(page, 'Recently done')).slice(0, 2).every((text) => /invoices|proration/.test(text)), 'both on top');
  for (const title of ['When invoices are sent twice', 'How proration rounds']) await mark(page, title);
  await page.getByRole('toolbar').getByRole('button', { name: 'Archive' }).click();
  await row(page, 'When invoices are sent twice').waitFor({ state: 'detached' });
  assert.equal(await row(page, 'How proration rounds').count(), 0);
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  await page.getByLabel('Filter by state').selectOption('archived');
  for (const title of ['When invoices are sent twice', 'How proration rounds']) await mark(page, title);
  await page.getByRole('toolbar').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('alertdialog', { name: 'Delete 2 chats?' }).getByRole('button', { name: 'Delete 2 chats' }).click();
  await page.getByText('No chat matches the filters.').waitFor();
  const left = await mara(`/workspaces/${team.workspaces['billing-worker']}/chats`);
  assert.equal(left.some(({ title }) => /invoices are|proration/.test(title)), false);
  await page.getByLabel('Filter by state').selectOption('open');
  await page.keyboard.press('Escape');
  await page.locator('body').click({ position: { x: 2, y: 2 } });
  await page.keyboard.press('c');
  await page.getByRole('textbox', { name: 'First message of a new chat' }).and(page.locator(':focus')).waitFor();
  await page.keyboard.type('jkex');
  assert.equal(await page.getByRole('textbox', { name: 'First message of a new chat' }).inputValue(), 'jkex');
  assert.deepEqual(faults, []);
  await page.context().close();
});

async function mark(page, title) {
  await row(page, title).getByRole('link').first().focus();
  await page.keyboard.press('x');
  await row(page, title).getByRole('checkbox').and(page.locator(':checked')).waitFor();
}

test('HM-2: title, icon and notification tell of questions and ended runs of other chats, on any page', async () => {
  const { page, context, faults } = await open();
  await context.addInitScript(() => {
    window.told = [];
    window.Notification = class {
      static permission = 'granted';
      constructor(title, { body }) {
        window.told.push(`${title}: ${body}`);
      }
      close() {}
    };
    let hidden = false;
    Object.defineProperty(document, 'hidden', { get: () => hidden });
    window.hide = (is) => { hidden = is; document.dispatchEvent(new Event('visibilitychange')); };
  });
  await page.goto(`${team.server.url}/settings/appearance`);
  await page.waitForFunction(() => document.title.startsWith('(5) '));
  assert.match(await page.locator('link[rel="icon"]').getAttribute('href'), /question/);
  await page.evaluate(() => window.hide(true));
  const made = await mara(`/workspaces/${team.workspaces['docs-site']}/chats`, 'POST', { title: 'Spelling' });
  const path = `/workspaces/${made.workspace_id}/chats/${made.id}`;
  await mara(`${path}/messages`, 'POST', { content: 'Mend the spelling' });
  await page.waitForFunction(() => window.told.includes('Finished: Spelling: '));
  await page.waitForFunction(() => document.title.startsWith('(5) ✓ '));
  await page.evaluate(() => window.hide(false));
  await page.waitForFunction(() => document.title.startsWith('(5) ') && !document.title.includes('✓'));

  await page.evaluate(() => window.hide(true));
  await mara(`/workspaces/${team.workspaces['docs-site']}/tools`, 'POST', { tool: 'ask_user', chat_id: made.id, args: { questions: [{ name: 'dialect', question: 'British or **American**?', schema: { type: 'string' } }] } });
  await page.waitForFunction(() => window.told.includes('Waiting for you: Spelling: British or American?'));
  await page.waitForFunction(() => document.title.startsWith('(6) '));
  await mara(`${path}/stop`, 'POST', {});
  await page.waitForFunction(() => document.title.startsWith('(5) '));
  assert.equal((await page.evaluate(() => window.told)).length, 2, 'who stopped a run knows');
  assert.deepEqual(faults, []);
  await context.close();
});

test('the groups of the sidebar fold, and stay so', async () => {
  const { page } = await open();
  const side = page.getByRole('navigation', { name: 'Chats' });
  const head = side.getByRole('button', { name: /billing-worker/ });
  assert.equal(await head.getAttribute('aria-expanded'), 'false');
  await head.click();
  await side.getByRole('link', { name: /Refund limits/ }).waitFor();
  await page.reload();
  await side.getByRole('link', { name: /Refund limits/ }).waitFor();
  await head.click();
  await side.getByRole('link', { name: /Refund limits/ }).waitFor({ state: 'detached' });
  await page.context().close();
});

test('panes keep the width that they were given, by mouse or by keys', async () => {
  const { page } = await open();
  const widths = () => page.getByRole('separator').evaluateAll((all) => all.map((one) => Math.ceil(one.parentElement.getBoundingClientRect().width / 4) * 4));
  const edge = page.getByRole('separator', { name: 'Width of the sidebar' });
  const box = await edge.boundingBox();
  await page.mouse.move(box.x + 2, 400);
  await page.mouse.down();
  await page.mouse.move(box.x + 62, 400);
  await page.mouse.up();
  await until(async () => (await widths())[0] === 292, 'a wider sidebar');
  await page.goto(team.chats.plan.url);
  await page.getByRole('separator', { name: 'Width of the panel' }).focus();
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  await until(async () => (await widths())[1] === 408, 'a wider panel');
  await page.reload();
  await until(async () => (await widths()).join() === '292,408', 'the same widths after a reload');
  await page.context().close();
});

for (const [size, viewport] of Object.entries({ desktop: {}, phone: { viewport: PHONE, hasTouch: true } })) {
  for (const locale of ['en-US', 'zh-CN']) {
    test(`axe finds nothing in the inbox: ${size}, ${locale}`, async () => {
      const { page } = await open({ ...viewport, locale });
      const look = (what) => assertNothingFound(page, what);
      await look('inbox');
      await row(page, 'Cursor pagination').getByRole('checkbox').check();
      await page.getByRole('button', { name: /^(Filter|筛选)$/ }).click();
      await look('selection and filters');
      await page.goto(`${team.chats.review.url}/changes`);
      await page.getByRole('tree').waitFor();
      await look('changes with viewed marks');
      await page.context().close();
    });
  }
}
