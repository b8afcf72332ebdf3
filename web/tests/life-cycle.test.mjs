// From a request to a changed file, by clicks alone.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { composer, history, newPage, openBrowser, shownMode, startServer, until } from './support.mjs';

test('a newcomer sees a plan, approves it by a click, and sees the change', async () => {
  const server = await startServer({ model: 'demo/demo' });
  const { page, faults } = await openBrowser(server);
  assert.ok(!page.url().includes('token'), 'the token stays out of the address bar');
  await page.getByText('a model that plays a fixed script').waitFor();

  await page.getByRole('textbox', { name: 'First message of a new chat' }).fill('Say goodbye, too');
  await page.getByRole('button', { name: 'Start' }).click();
  await history(page).getByText('The plan is ready').waitFor();
  assert.equal(await shownMode(page), 'plan');
  assert.ok(!existsSync(join(server.workspace, 'src/farewell.rs')), 'nothing is changed before the approval');
  await page.getByRole('navigation').getByRole('link', { name: /Say goodbye, too/ }).waitFor();

  await page.getByRole('button', { name: 'Execute plan' }).first().click();
  await until(async () => (await shownMode(page)) === 'act', 'the build mode');
  await history(page).getByText('and nothing else changed').waitFor();
  assert.match(readFileSync(join(server.workspace, 'src/farewell.rs'), 'utf8'), /Goodbye/);
  await history(page).getByText(/by your approval of plan v1/).waitFor();

  await page.reload();
  await history(page).getByText('and nothing else changed').waitFor();
  assert.equal(await shownMode(page), 'act');
  await server.restart('SIGTERM');
  await page.reload();
  await until(async () => (await shownMode(page)) === 'act', 'the mode after a restart');
  assert.deepEqual(faults, []);
});

test('without the token the page asks for it, says when it is wrong, and lets in with it', async () => {
  const server = await startServer({ model: 'demo/demo' });
  const page = await newPage();
  await page.goto(server.url);
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await page.getByLabel('Token').fill('wrong');
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByText('This is not this server’s token.').waitFor();
  await page.getByLabel('Token').fill(new URL(server.address).hash.slice('#token='.length));
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('heading', { name: 'Inbox' }).waitFor();
  await page.getByRole('button', { name: /theme and language/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
});

test('people of a team sign in by name and password', async () => {
  const server = await startServer({ model: 'demo/demo', args: ['--auth', 'users'], accounts: { ada: 'a long enough password' } });
  const page = await newPage();
  await page.goto(server.url);
  await page.getByLabel('Name').fill('ada');
  await page.getByLabel('Password').fill('wrong wrong wrong');
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByText('Name or password is wrong.').waitFor();
  await page.getByLabel('Password').fill('a long enough password');
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('heading', { name: 'Inbox' }).waitFor();
});

test('a chat is renamed, found, and deleted; its address then says that it is gone', async () => {
  const server = await startServer({ model: 'demo/demo' });
  const { page } = await openBrowser(server);
  await page.getByRole('button', { name: 'New chat' }).click();
  await composer(page).waitFor();
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'Rename…' }).click();
  await page.getByRole('textbox', { name: 'Title' }).fill('Limits per tenant');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: 'Limits per tenant' }).waitFor();
  const found = page.getByRole('navigation').getByRole('link', { name: /Limits per tenant/ });
  await found.waitFor();
  await page.getByRole('searchbox', { name: 'Search chats' }).fill('nothing like it');
  await found.waitFor({ state: 'detached' });
  await page.getByRole('searchbox', { name: 'Search chats' }).fill('tenant');
  await found.waitFor();
  const address = page.url();
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'Delete…' }).click();
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByRole('heading', { name: 'Inbox' }).waitFor();
  await page.goto(address);
  await page.getByRole('heading', { name: 'There is nothing here' }).waitFor();
});
