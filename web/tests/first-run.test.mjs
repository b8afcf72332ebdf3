// The first minutes of somebody who has nothing yet: from `make run` in an empty home to a finished change; and without a model.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { violations } from './axe.mjs';
import { composer, history, newPage, openBrowser, shownMode, startServer, until } from './support.mjs';

const root = new URL('../..', import.meta.url).pathname;
const place = mkdtempSync(join(tmpdir(), 'planwright-first-'));
let made;
after(async () => {
  if (made?.exitCode === null) {
    const gone = new Promise((resolve) => made.once('exit', resolve));
    process.kill(-made.pid, 'SIGTERM');
    await gone;
  }
  rmSync(place, { recursive: true, force: true });
});

/** `make run` as a newcomer has it: nothing in the home, no key, no configuration; the address that it prints. */
async function makeRun() {
  mkdirSync(join(place, 'home'));
  const kept = Object.entries(process.env).filter(([name]) => !/_API_KEY$|_BASE_URL$|^OLLAMA_HOST$|^XDG_|^PLANWRIGHT_/.test(name));
  // The tools that build are those of the machine, wherever the home is.
  const tools = { CARGO_HOME: process.env.CARGO_HOME ?? join(homedir(), '.cargo'), RUSTUP_HOME: process.env.RUSTUP_HOME ?? join(homedir(), '.rustup') };
  const env = { ...Object.fromEntries(kept), ...tools, HOME: join(place, 'home'), LISTEN: '127.0.0.1:0' };
  made = spawn('make', ['run', `DEMO=${join(place, 'demo')}`, `BUILD=${process.env.BUILD ?? 'debug'}`], { cwd: root, env, detached: true, stdio: ['ignore', 'pipe', process.env.VERBOSE ? 'inherit' : 'ignore'] });
  for await (const line of createInterface({ input: made.stdout })) {
    const address = line.match(/^sign in at (.*)/)?.[1];
    if (address) return address;
  }
  throw new Error('make run ended without an address');
}

const guide = (page) => page.getByRole('region', { name: 'Guide' });
const guideAt = (page, step) => guide(page).getByRole('button', { name: step }).waitFor();

/** The guide from its first to its last step; `folder` is where the sample is. */
async function followGuide(page, folder) {
  await guideAt(page, /Say what you want/);
  assert.deepEqual(await violations(page), []);
  await guide(page).getByRole('button', { name: /^Send “/ }).click();
  await guideAt(page, /Read the plan/);
  assert.equal(await shownMode(page), 'plan');
  assert.ok(!existsSync(join(folder, 'src/farewell.rs')), 'nothing changes before the plan is approved');
  await page.getByRole('button', { name: 'Execute plan' }).click();
  await guideAt(page, /Done\. Review the change/);
  assert.equal(await shownMode(page), 'act');
  assert.match(readFileSync(join(folder, 'src/farewell.rs'), 'utf8'), /Goodbye/);
  await guide(page).getByRole('button', { name: 'Show the changes' }).click();
  await page.getByRole('complementary').getByText('farewell.rs').first().waitFor();
}

test('from make run in an empty home to a plan, an approval and a finished change', async () => {
  const address = await makeRun();
  const page = await newPage();
  await page.goto(address);
  await page.getByText('This server runs the demo').waitFor();
  await page.getByRole('button', { name: 'Try the demo' }).click();
  await composer(page).waitFor();
  await followGuide(page, join(place, 'demo/data/samples/own/greeter'));
  await guide(page).getByRole('button', { name: 'Start over with a fresh copy' }).click();
  await guideAt(page, /Say what you want/);
  await guide(page).getByRole('button', { name: /^Send “/ }).click();
  await guideAt(page, /Read the plan/);
  await guide(page).getByRole('button', { name: 'Close the guide' }).click();
  await guide(page).waitFor({ state: 'detached' });
  await page.reload();
  await composer(page).waitFor();
  assert.equal(await guide(page).count(), 0, 'a guide that was closed stays so');
});

test('the first words typed at home work as well, on the sample that make run made', async () => {
  const page = await newPage();
  await page.goto(await restartedAddress());
  await page.getByRole('combobox', { name: 'Workspace', exact: true }).selectOption('greeter');
  await page.getByRole('textbox', { name: 'First message of a new chat' }).fill('Say goodbye, too');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Execute plan' }).click();
  await history(page).getByText('(demo model) Done').waitFor();
  assert.ok(existsSync(join(place, 'demo/greeter/src/farewell.rs')));
});

/** The token is the same as before: it is kept in the data folder. */
async function restartedAddress() {
  const gone = new Promise((resolve) => made.once('exit', resolve));
  process.kill(-made.pid, 'SIGTERM');
  await gone;
  rmSync(join(place, 'home'), { recursive: true });
  return makeRun();
}

test('without a model the app says how to get one, and the demo works all the same', async () => {
  const server = await startServer({ model: null });
  const { page, faults } = await openBrowser(server);
  await page.getByRole('heading', { name: 'Set up a model first' }).waitFor();
  assert.deepEqual(await violations(page), []);
  await page.getByRole('link', { name: 'Set up a model' }).click();
  await page.getByText('no model yet').first().waitFor();
  await page.getByText('export ANTHROPIC_API_KEY=…').waitFor();
  await page.goto(server.url);
  await page.getByRole('heading', { name: 'Set up a model first' }).waitFor();
  // A message sent without a model says what is missing.
  await page.getByRole('textbox', { name: 'First message of a new chat' }).fill('Hello');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').getByText(/No model is configured/).waitFor();
  await page.getByRole('alert').getByRole('link', { name: 'Set up a model' }).waitFor();
  await page.goto(server.url);
  await page.getByRole('button', { name: 'Try the demo' }).click();
  await composer(page).waitFor();
  await followGuide(page, join(server.home, 'data/samples/own/greeter'));
  // The sample was for looking around: the next chat of one's own goes elsewhere.
  await page.goto(server.url);
  assert.equal(await page.getByRole('combobox', { name: 'Workspace', exact: true }).evaluate((box) => box.selectedOptions[0].textContent), 'greeter');
  assert.deepEqual(faults, []);
});

test('a server that is gone is said to be, and found again when it is back', async () => {
  const server = await startServer({ model: { turns: [{ text: 'Here.' }], repeat: true } });
  const { page } = await openBrowser(server);
  await page.goto(`${server.url}/settings/account`);
  await page.getByText('No tokens yet.').waitFor();
  await page.route('**/api/v1/me', (route) => route.abort());
  await page.reload();
  await page.getByRole('heading', { name: 'Can’t reach Planwright' }).waitFor();
  await page.unrouteAll();
  await page.getByText('No tokens yet.').waitFor();
  await server.stop('SIGKILL');
  await page.getByRole('link', { name: 'Workspaces' }).click();
  await page.getByRole('status').getByText(/Reconnecting|Offline/).first().waitFor();
  await server.start();
  await page.getByRole('status').getByText('Live').first().waitFor();
  await until(async () => (await page.getByRole('heading', { level: 3, name: 'greeter' }).count()) === 1, 'the workspaces');
});
