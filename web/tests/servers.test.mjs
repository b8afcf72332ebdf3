// MCP servers: what is run is shown before it is run, what has changed is shown before it is used, and what failed says so.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { violations } from './axe.mjs';
import { history, openBrowser, say, startServer } from './support.mjs';

const HOSTILE = new URL('../../crates/mcp/tests/servers/hostile.mjs', import.meta.url).pathname;
const node = (name, args, more = '') => `[mcp.servers.${name}]\ncommand = "node"\nargs = ${JSON.stringify([HOSTILE, ...args])}\n${more}\n`;

let server, page, faults, description;
before(async () => {
  server = await startServer({ model: { turns: [{ text: 'Very well.' }], repeat: true }, config: '' });
  mkdirSync(join(server.home, 'said'));
  description = join(server.home, 'said/look.txt');
  writeFileSync(description, 'Looks.');
  server.configure(node('watch', ['saying', description], 'trust_read_only = true') + node('broken', ['dead']));
  await server.restart();
  ({ page, faults } = await openBrowser(server));
});

const section = async () => {
  await page.goto(`${server.url}/settings/servers`);
  await page.getByRole('heading', { level: 2, name: 'MCP servers' }).waitFor();
};
const row = (name) => page.getByRole('listitem').filter({ has: page.getByRole('heading', { level: 3, name, exact: true }) });
const check = async () => {
  await page.getByRole('button', { name: 'Check', exact: true }).click();
  await page.getByRole('button', { name: 'Check', exact: true, disabled: false }).waitFor();
};

test('servers are listed with exactly what is run, started when they are checked, and say what they offer or why they do not work', async () => {
  await section();
  await row('watch').getByText('not started').waitFor();
  await row('watch').getByText(`node ${HOSTILE} saying ${description}`).waitFor();
  await check();
  await row('watch').getByText('ready', { exact: true }).waitFor();
  await row('broken').getByText('failed', { exact: true }).waitFor();
  await row('broken').getByText(/I could not find my configuration/).waitFor();
  await row('watch').getByText(/\d+ tools/).click();
  const tool = row('watch').getByRole('listitem').filter({ hasText: 'watch__look' });
  await tool.getByText('reads', { exact: true }).waitFor();
  await row('watch').getByRole('listitem').filter({ hasText: 'watch__write' }).getByText(/Actor only/).waitFor();
  for (const colorScheme of ['dark', 'light']) {
    await page.emulateMedia({ colorScheme });
    await page.locator(`html[data-theme=${colorScheme}]`).waitFor();
    assert.deepEqual(await violations(page), [], colorScheme);
  }
});

test('a server that failed is a line in the chat, which leads to the reason', async () => {
  const chat = await server.newChat();
  await page.goto(chat.url);
  await say(page, 'Hello');
  await history(page).getByText('Very well.').waitFor();
  const line = history(page).getByRole('note').filter({ hasText: 'The MCP server “broken” failed.' });
  await line.getByRole('link', { name: 'MCP servers' }).click();
  await row('broken').getByText(/I could not find my configuration/).waitFor();
});

test('a tool whose description has changed is told of in the open chat, and used again once both have been shown and accepted', async () => {
  await server.stop();
  writeFileSync(description, 'Looks, and sends what it sees.');
  await server.start();
  const chat = await server.newChat();
  await page.goto(chat.url);
  await say(page, 'Hello');
  await history(page).getByText(/The MCP server “watch” changed since you accepted it/).waitFor();
  await page.getByText('An MCP server changed since you accepted it. The changed tools are off.').waitFor();
  await page.getByRole('button', { name: 'Review' }).click();
  const dialog = page.getByRole('dialog', { name: 'An MCP server changed' });
  const change = dialog.getByRole('region', { name: 'MCP server watch' });
  await change.getByRole('heading', { name: 'Tool look' }).waitFor();
  assert.match(await change.locator('dl').innerText(), /accepted\s+Looks\.\s[\s\S]*now\s+Looks, and sends what it sees\./);
  assert.deepEqual(await violations(page), []);
  await change.getByRole('button', { name: 'Accept “watch” as it is now' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByText('An MCP server changed since you accepted it. The changed tools are off.').waitFor({ state: 'detached' });
  await section();
  await check();
  await row('watch').getByText('ready', { exact: true }).waitFor();
});

test('a command that changes under the same name is shown as it was and as it is, and is not run before', async () => {
  await server.stop();
  server.configure(node('watch', ['saying', description, 'one word'], 'trust_read_only = true'));
  await server.start();
  await section();
  await check();
  await row('watch').getByText('changed since you accepted it').waitFor();
  await row('watch').getByRole('button', { name: 'Review: watch' }).click();
  const change = page.getByRole('dialog').getByRole('region', { name: 'MCP server watch' });
  await change.getByRole('heading', { name: 'Command' }).waitFor();
  await change.getByText(`saying ${description} 'one word'`).waitFor();
  await page.keyboard.press('Escape');
});

test('a server that comes with the folder is shown word by word before it is started', async () => {
  mkdirSync(join(server.workspace, '.planwright'), { recursive: true });
  writeFileSync(join(server.workspace, '.planwright/config.toml'), node('theirs', ['plain', 'a b'], 'env = { MODE = "loud" }'));
  await section();
  await row('theirs').getByText('not accepted').waitFor();
  await row('theirs').getByText('the folder’s configuration').waitFor();
  await row('theirs').getByRole('button', { name: 'Review: theirs' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('MCP server: a program that Planwright starts, or an address that it calls').waitFor();
  await dialog.getByText(`node ${HOSTILE} plain 'a b'`).waitFor();
  await dialog.getByText('env = {"MODE":"loud"}').waitFor();
  assert.deepEqual(await violations(page), []);
  await dialog.getByRole('button', { name: 'Accept', exact: true }).click();
  await dialog.getByRole('button', { name: 'Accept', exact: true }).waitFor({ state: 'detached' });
  await dialog.getByRole('region', { name: 'MCP server watch' }).waitFor(); // that one is a decision of its own
  await page.keyboard.press('Escape');
  await check();
  await row('theirs').getByText('ready', { exact: true }).waitFor();
});

test('no error was reported by the page', () => assert.deepEqual(faults, []));
