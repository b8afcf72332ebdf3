// Reloads, restarts, kills, many tabs: what is shown in the end is what happened.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { composer, history, openBrowser, say, startServer, until, words } from './support.mjs';

const COUNT = 300;
let server;
before(async () => {
  server = await startServer({ model: { plan: [{ text: words(COUNT), delay_ms: 30 }], repeat: true } });
});

/** The words of the newest answer, checked to be the script's from the first on, without a hole or one twice. */
async function spoken(page) {
  const text = (await history(page).locator('.prose').last().innerText()).trim();
  const expected = words(COUNT);
  assert.ok(expected.startsWith(text) || text.startsWith(expected), `the text went wrong: ${text.slice(-200)}`);
  return text.split(' ').length;
}
const begun = (page, count = 10) => until(async () => (await history(page).locator('.prose').count()) > 0 && (await spoken(page)) >= count, 'the answer to begin');
const ended = (page) => until(async () => (await spoken(page)) === COUNT, 'the whole answer');

test('a reload in mid-stream goes on where the answer is', async () => {
  const { page, faults } = await openBrowser(server);
  await page.goto((await server.newChat()).url);
  await say(page, 'Talk');
  await begun(page);
  await page.reload();
  await begun(page, 20);
  await ended(page);
  assert.deepEqual(faults, []);
});

test('a graceful restart in mid-stream loses nothing that was said, and the page comes back by itself', async () => {
  const { page } = await openBrowser(server);
  await page.goto((await server.newChat()).url);
  await say(page, 'Talk');
  await begun(page);
  await server.restart('SIGTERM');
  await page.getByText('Live').waitFor();
  await until(async () => !(await page.getByRole('button', { name: 'Stop', exact: true }).isVisible()), 'the run to end');
  await agrees(page);
});

test('kill -9 in mid-stream: the page shows that it is cut off, comes back, and shows what the server has', async () => {
  const { page } = await openBrowser(server);
  await page.goto((await server.newChat()).url);
  await say(page, 'Talk');
  await begun(page);
  await server.stop('SIGKILL');
  await page.getByRole('status').getByText('Reconnecting').waitFor();
  const band = page.getByRole('alert').filter({ hasText: 'Can’t reach the server. Retrying.' });
  await band.waitFor();
  const head = await page.getByRole('banner').boundingBox();
  assert.equal(Math.round((await band.boundingBox()).y), Math.round(head.y + head.height), 'the band is right below the header');
  await composer(page).fill('typed while it was gone');
  await server.start();
  await page.getByText('Live').waitFor();
  await band.waitFor({ state: 'detached' });
  assert.equal(await composer(page).inputValue(), 'typed while it was gone');
  await until(async () => !(await page.getByRole('button', { name: 'Stop', exact: true }).isVisible()), 'the run to end');
  await agrees(page);
});

test('a message sent while the server is gone waits, and goes out once when it is back', async () => {
  const { page } = await openBrowser(server);
  const chat = await server.newChat();
  await page.goto(chat.url);
  await composer(page).waitFor();
  await server.stop('SIGKILL');
  await say(page, 'Patience');
  await history(page).getByText('Waiting for the server').waitFor();
  await server.start();
  await history(page).getByText('Waiting for the server').waitFor({ state: 'detached' });
  await begun(page, 3);
  const { messages } = await server.api(`${chat.path}/snapshot`);
  assert.equal(messages.filter((message) => message.author === 'user').length, 1);
});

test('two tabs show the same chat, word for word', async () => {
  const { page, context } = await openBrowser(server);
  const chat = await server.newChat();
  await page.goto(chat.url);
  const second = await context.newPage();
  await second.goto(chat.url);
  await composer(second).waitFor();
  await say(page, 'Talk');
  await Promise.all([begun(page), begun(second)]);
  await second.getByRole('button', { name: 'Stop', exact: true }).click();
  await until(async () => (await history(page).getByText('Interrupted here').count()) === 1, 'the stop to show in the first tab');
  assert.equal(await history(page).locator('.prose').last().innerText(), await history(second).locator('.prose').last().innerText());
});

test('twelve tabs are all live and all usable', async () => {
  const { page, context, faults } = await openBrowser(server);
  const chat = await server.newChat();
  const tabs = [page, ...(await Promise.all(Array.from({ length: 11 }, () => context.newPage())))];
  for (const tab of tabs) {
    await tab.goto(chat.url);
    await composer(tab).waitFor();
  }
  await say(tabs[11], 'Talk');
  for (const tab of tabs) {
    await tab.bringToFront();
    await begun(tab, 1);
  }
  await tabs[3].getByRole('button', { name: 'Stop', exact: true }).click();
  for (const tab of tabs) {
    await tab.bringToFront();
    await history(tab).getByText('Interrupted here').waitFor();
  }
  assert.deepEqual(faults, []);
});

/** What the page shows is what the server has stored. */
async function agrees(page) {
  const [, workspace, chat] = page.url().match(/\/w\/(.*)\/c\/(.*)/);
  const { messages } = await server.api(`/workspaces/${workspace}/chats/${chat}/snapshot`);
  const answers = messages.filter((message) => message.author === 'assistant').map((message) => message.content.trim());
  await until(async () => (await history(page).locator('.prose').allInnerTexts()).map((text) => text.trim()).join('|') === answers.join('|'), 'page and server to agree');
}
