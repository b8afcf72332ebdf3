// Settings: models, modes and approvals, workspaces and trust, roles, appearance, keys, tokens.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { violations } from './axe.mjs';
import { composer, openBrowser, say, history, shownMode, startServer, until } from './support.mjs';

let server, page, faults;
before(async () => {
  server = await startServer({ model: { turns: [{ text: 'Very well.' }], repeat: true } });
  ({ page, faults } = await openBrowser(server));
});

const section = async (name) => {
  await page.goto(`${server.url}/settings/${name}`);
  await page.getByRole('main').getByRole('heading', { level: 2 }).first().waitFor();
};
const said = (text) => page.getByRole('status').getByText(text).waitFor();

test('the settings are a click away, and each section has an address', async () => {
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
  for (const [link, address] of [['Modes and approvals', 'modes'], ['Workspaces', 'workspaces'], ['MCP servers', 'servers'], ['Roles', 'roles'], ['Appearance', 'appearance'], ['Keys', 'keys'], ['Account', 'account'], ['Models', 'models']]) {
    await page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: link }).click();
    await page.getByRole('heading', { level: 2, name: link }).waitFor();
    assert.ok(page.url().endsWith(`/settings/${address}`), page.url());
  }
});

test('the configured model is tested by a click, and a model that is not there says how to mend it', async () => {
  await section('models');
  await page.getByRole('button', { name: /^Test: Plans with script/ }).click();
  await page.getByText('Works').first().waitFor();
  await page.getByLabel(/^Model for/).fill('ollama/qwen3-coder');
  await page.getByRole('button', { name: 'Test: ollama/qwen3-coder' }).click();
  await page.getByText(/Failed.*ollama serve/).waitFor();
  await page.getByLabel(/^Model for/).fill('nobody/x');
  await page.getByRole('button', { name: 'Use this model' }).click();
  await page.getByRole('alert').getByText(/There is no provider "nobody"/).waitFor();
});

test('a model chosen for a workspace answers the next message, and the configured one after it is taken away', async () => {
  await section('models');
  await page.getByLabel(/^Model for/).fill('demo/demo');
  await page.getByRole('button', { name: 'Use this model' }).click();
  await said(/go to demo\/demo/);
  await page.getByText('demo: a fixed script').first().waitFor();
  const chat = await server.newChat();
  await page.goto(chat.url);
  await say(page, 'Hello');
  await history(page).getByText('(demo model) I\'ll look around').waitFor();
  await section('models');
  await page.getByRole('button', { name: 'Use the configured model' }).click();
  await said(/go to the configured model/);
  const other = await server.newChat();
  await page.goto(other.url);
  await say(page, 'Hello');
  await history(page).getByText('Very well.').waitFor();
});

test('each provider says what to do: a key and its variable, an own server, and the file to keep it in', async () => {
  await section('models');
  const provider = page.getByLabel('Provider');
  await provider.selectOption({ label: 'Anthropic' });
  await page.getByText('export ANTHROPIC_API_KEY=…').waitFor();
  await provider.selectOption({ label: 'Any other OpenAI-compatible server' });
  await page.getByText('[providers.local]').waitFor();
});

test('the mode of new chats and what an order does are set for a workspace', async () => {
  await section('modes');
  await page.getByRole('radio', { name: /^Build/ }).check();
  await said(/Saved/);
  const chat = await server.newChat();
  await page.goto(chat.url);
  await composer(page).waitFor();
  assert.equal(await shownMode(page), 'act');
  await section('modes');
  assert.ok(await page.getByRole('radio', { name: /^Build/ }).isChecked());
  await page.getByRole('radio', { name: /shows a button/ }).check();
  await page.getByRole('radio', { name: /^Plan/ }).check();
  await until(async () => (await server.api('/workspaces'))[0].settings.default_mode === 'plan', 'the setting');
  assert.equal((await server.api('/workspaces'))[0].settings.intent_switch, 'suggest');
});

test('approvals can be made stricter and not laxer', async () => {
  await section('modes');
  const deleting = page.getByLabel('Deleting files');
  assert.ok(await deleting.locator('option[value=allow]').evaluate((node) => node.disabled), 'what would allow more can\'t be chosen');
  await deleting.selectOption('deny');
  await said(/Saved/);
  const workspace = (await server.api('/workspaces'))[0];
  assert.equal((await server.api(`/workspaces/${workspace.id}/rules`)).approvals.delete, 'deny');
  await assert.rejects(server.api(`/workspaces/${workspace.id}`, 'PATCH', { settings: { approvals: { delete: 'allow' } } }), /only be made stricter/);
  await deleting.selectOption('ask');
  await until(async () => (await server.api('/workspaces'))[0].settings.approvals === undefined, 'the rule to be gone');
});

test('a folder is added, what it brings along is listed and accepted, and forgetting it leaves its files', async () => {
  const folder = mkdtempSync(join(server.home, 'added-'));
  mkdirSync(join(folder, '.planwright'));
  writeFileSync(join(folder, '.planwright/config.toml'), '[models]\nplan = "demo/demo"\n[limits]\nturns = 500\n[approvals]\nexecute = "deny"\ndelete = "allow"\n');
  await section('workspaces');
  await page.getByRole('button', { name: 'Add a folder…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add a folder' });
  await dialog.getByLabel('Full path of the folder').fill('/does/not/exist');
  await dialog.getByRole('button', { name: 'Add' }).click();
  await dialog.getByRole('alert').getByText(/can't be opened/).waitFor();
  await dialog.getByLabel('Full path of the folder').fill(folder);
  await dialog.getByLabel('Name (optional)').fill('Brought along');
  await dialog.getByRole('button', { name: 'Add' }).click();

  const trust = page.getByRole('dialog', { name: /Accept the configuration of “Brought along”/ });
  await trust.getByText('models.plan = demo/demo').waitFor();
  await until(() => trust.getByRole('heading', { level: 2 }).evaluate((title) => title === document.activeElement), 'the focus on the title');
  assert.deepEqual(await violations(page), []);
  await trust.getByText('limits.turns = 500').waitFor();
  await trust.getByText(/approvals\.delete is ignored: it would allow more/).waitFor();
  writeFileSync(join(folder, '.planwright/config.toml'), '[models]\nplan = "demo/demo"\n[limits]\nturns = 900\n');
  await trust.getByRole('button', { name: 'Accept' }).click();
  await trust.getByRole('alert').getByText(/changed while you were reading/).waitFor();
  await trust.getByText('limits.turns = 900').waitFor();
  await trust.getByRole('button', { name: 'Accept' }).click();
  await said(/applies from the next message/);
  const row = page.getByRole('listitem').filter({ hasText: 'Brought along' });
  await row.getByRole('button', { name: 'Trusted' }).waitFor();

  await row.getByRole('button', { name: /^Rename/ }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('Named anew');
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { level: 3, name: 'Named anew' }).waitFor();
  await page.getByRole('button', { name: 'Forget…: Named anew' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Forget' }).click();
  await page.getByRole('heading', { level: 3, name: 'Named anew' }).waitFor({ state: 'detached' });
  assert.ok(existsSync(join(folder, '.planwright/config.toml')));
});

test('the matrix of roles and rights is what the server holds them to, and lists the tools of each', async () => {
  await section('roles');
  const roles = await server.api('/roles');
  for (const role of roles) {
    const row = page.getByRole('row', { name: new RegExp(`^${role.title}`, 'i') });
    await row.waitFor();
    const given = await row.getByRole('img', { name: 'yes', exact: true }).or(row.getByLabel('yes', { exact: true })).count();
    assert.equal(given, Object.values(role.permissions).filter(Boolean).length, role.role);
  }
  await page.getByRole('button', { name: 'Tools of the role Tester' }).click();
  await page.getByRole('region', { name: 'Tools of the role Tester' }).getByText('run', { exact: true }).waitFor();
});

test('theme, language and Shift+Tab are remembered', async () => {
  await section('appearance');
  await page.getByRole('radio', { name: 'Dark' }).check();
  await page.locator('html[data-theme=dark]').waitFor();
  await page.getByRole('checkbox', { name: /^Shift\+Tab/ }).uncheck();
  await page.getByRole('radio', { name: '中文' }).click();
  await page.getByRole('heading', { level: 1, name: '设置' }).waitFor();
  await page.reload();
  await page.getByRole('heading', { level: 1, name: '设置' }).waitFor();
  assert.equal(await page.locator('html').getAttribute('lang'), 'zh-CN');
  await page.getByRole('radio', { name: 'English' }).click();
  await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
  await page.getByRole('radio', { name: 'Light' }).check();
  const chat = await server.newChat();
  await page.goto(chat.url);
  await composer(page).focus();
  await page.keyboard.press('Shift+Tab');
  assert.ok(await composer(page).evaluate((node) => node !== document.activeElement), 'the focus goes back');
  assert.equal(await shownMode(page), 'plan');
  await section('appearance');
  await page.getByRole('checkbox', { name: /^Shift\+Tab/ }).check();
});

test('a token is made, shown once, works, and is taken back', async () => {
  await section('account');
  await page.getByText('No tokens yet.').waitFor();
  await page.getByLabel('Purpose').fill('ci');
  await page.getByRole('button', { name: 'Create token' }).click();
  const token = await page.getByRole('status').locator('pre').innerText();
  const me = () => fetch(`${server.url}/api/v1/me`, { headers: { authorization: `Bearer ${token}` } });
  assert.equal((await me()).status, 200);
  await page.reload();
  await page.getByText('ci', { exact: true }).waitFor();
  assert.equal(await page.getByText(token).count(), 0);
  await page.getByRole('button', { name: 'Revoke the token ci' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }).click();
  await page.getByText('No tokens yet.').waitFor();
  assert.equal((await me()).status, 401);
});

test('what can\'t be read says so, and is tried again by a click', async () => {
  await page.route('**/api/v1/tokens', (route) => route.fulfill({ status: 500, json: { error: { code: 'INTERNAL', message: 'The disk is full.', retryable: false } } }));
  await section('account');
  await page.getByRole('alert').getByText('The disk is full.').waitFor();
  await page.unrouteAll();
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('No tokens yet.').waitFor();
});

test('none of this broke the page', () => assert.deepEqual(faults, []));
