// The mode and the role: always to be seen, changed only by the server's word.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { composer, history, openBrowser, say, shownMode, startServer, until, words } from './support.mjs';

let server, page, faults;
before(async () => {
  server = await startServer({
    model: { plan: [{ text: 'Planned.' }], act: [{ text: words(400), delay_ms: 50 }], repeat: true },
  });
  ({ page, faults } = await openBrowser(server));
});

const toggle = (name) => page.getByRole('radiogroup', { name: 'Mode' }).getByRole('radio', { name });
const isMode = (mode) => until(async () => (await shownMode(page)) === mode, `mode ${mode}`);
const colourOf = (locator, property) => locator.evaluate((node, name) => getComputedStyle(node)[name], property);
const fresh = async (body) => {
  const chat = await server.newChat(body);
  await page.goto(chat.url);
  await composer(page).waitFor();
  return chat;
};

test('the mode shows as word, icon and colour in header and composer, and says what it means (PA-3, PB-17)', async () => {
  await fresh();
  assert.equal(await shownMode(page), 'plan');
  const header = page.getByRole('banner');
  const frame = page.locator('form').filter({ has: composer(page) });
  assert.equal(await colourOf(header, 'borderBottomColor'), 'rgb(29, 78, 216)');
  assert.equal(await colourOf(frame, 'borderTopColor'), 'rgb(29, 78, 216)');
  const icon = page.locator('link[rel="icon"]');
  assert.equal(await icon.getAttribute('href'), '/favicon-plan.svg');
  await toggle('Plan').hover();
  await page.getByRole('tooltip', { name: /Plan mode: reads and plans/ }).waitFor();
  await toggle('Build').hover();
  await page.getByRole('tooltip', { name: /Build mode: executes the approved plan/ }).waitFor();

  await toggle('Build').click();
  await isMode('act');
  assert.equal(await colourOf(header, 'borderBottomColor'), 'rgb(21, 112, 58)');
  assert.equal(await colourOf(frame, 'borderTopColor'), 'rgb(21, 112, 58)');
  assert.equal(await icon.getAttribute('href'), '/favicon-act.svg');
  await history(page).getByText('by you').waitFor();
});

test('the page flips when somebody else switches, without a reload', async () => {
  const chat = await fresh();
  await server.api(chat.path, 'PATCH', { agent_mode: 'act' });
  await isMode('act');
  await server.api(chat.path, 'PATCH', { mode: 'plan' });
  await isMode('plan');
});

test('a switch that the server refuses leaves the mode as it was and says why', async () => {
  const chat = await fresh();
  await page.route(`**${chat.path}`, (route) => (route.request().method() === 'PATCH' ? route.fulfill({ status: 500, json: { error: { code: 'INTERNAL', message: 'The disk is full.', retryable: true } } }) : route.continue()));
  await toggle('Build').click();
  await page.getByRole('alert').getByText('The disk is full.').waitFor();
  assert.equal(await shownMode(page), 'plan');
  await page.unrouteAll();
});

test('leaving act while it works asks first; keeping on changes nothing, confirming stops and switches (PA-5, AR-8)', async () => {
  await fresh({ agent_mode: 'act' });
  await say(page, 'Write a long text');
  await history(page).getByText('word5').waitFor();
  await toggle('Plan').click();
  const dialog = page.getByRole('alertdialog', { name: 'Stop the work in progress?' });
  await dialog.waitFor();
  assert.ok(await dialog.getByRole('button', { name: 'Keep working' }).evaluate((node) => node === document.activeElement), 'the harmless button has the focus');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  assert.equal(await shownMode(page), 'act');
  await page.getByRole('button', { name: 'Stop', exact: true }).waitFor();

  await toggle('Plan').click();
  await dialog.getByRole('button', { name: 'Stop and switch' }).click();
  await isMode('plan');
  await page.getByRole('button', { name: 'Stop', exact: true }).waitFor({ state: 'detached' });
  await history(page).getByText('Interrupted here').waitFor();
});

test('the role menu shows what each role may do; choosing one is logged in the history (AR-7, AR-9)', async () => {
  await fresh();
  await page.getByRole('button', { name: 'Role: Plan as Planner' }).click();
  for (const role of ['Planner', 'Actor', 'Reviewer', 'Commander', 'Designer', 'Tester']) await page.getByRole('menuitemradio', { name: new RegExp(`^${role}`) }).waitFor();
  const tester = page.getByRole('menuitemradio', { name: /^Tester/ });
  assert.match(await tester.innerText(), /run commands/);
  assert.match(await tester.textContent(), /can’t change/);
  await tester.click();
  await page.getByRole('button', { name: 'Role: Build as Tester' }).waitFor();
  await isMode('act');
  await history(page).getByText('Tester').waitFor();
});

test('each message of the agent carries the badge of the role that wrote it (AR-9)', async () => {
  await fresh();
  await say(page, 'One');
  await history(page).getByText('Planned.').waitFor();
  await page.getByRole('button', { name: 'Role: Plan as Planner' }).click();
  await page.getByRole('menuitemradio', { name: /^Reviewer/ }).click();
  await page.getByRole('button', { name: 'Role: Plan as Reviewer' }).waitFor();
  await say(page, 'Two');
  await until(async () => (await history(page).getByTestId('role-badge').allInnerTexts()).join() === 'Planner,Reviewer', 'both badges');
});

test('Mod+. and, in the composer, Shift+Tab switch the mode and keep the draft', async () => {
  await fresh();
  await composer(page).fill('half a sentence');
  await page.keyboard.press('Control+.');
  await isMode('act');
  await composer(page).press('Shift+Tab');
  await isMode('plan');
  assert.equal(await composer(page).inputValue(), 'half a sentence');
  assert.ok(await composer(page).evaluate((node) => node === document.activeElement));
  await toggle('Plan').focus();
  await page.keyboard.press('ArrowRight');
  await isMode('act');
});

test('none of this broke the page', () => assert.deepEqual(faults, []));
