// How full the model's context is, what is in it, what it cost, and making it shorter.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { composer, openBrowser, startServer, until } from './support.mjs';
import { picture } from './stage.mjs';

let server, page, faults, chat;
before(async () => {
  const usage = { input_tokens: 9_000, output_tokens: 1_000, cached_tokens: 4_000, cost: 0.25 };
  server = await startServer({
    files: { 'AGENTS.md': 'Write short sentences.\n' },
    model: {
      plan: [{ text: 'Looking.', calls: [{ tool: 'read', args: { path: '/src/lib.rs' } }], usage }, { text: 'Read.', usage: { ...usage, input_tokens: 29_000 } }, { text: 'More.', usage }],
      summary: { text: 'It was about the library.' },
      context_tokens: 100_000,
    },
  });
  chat = await server.newChat({ title: 'Room' });
  ({ page, faults } = await openBrowser(server));
  await page.goto(chat.url);
  await composer(page).waitFor();
});
const panelOf = () => page.getByRole('tabpanel', { name: 'Context' });
const atRest = () => until(async () => (await server.api(chat.path)).state === 'idle', 'the end of the run');

test('the ring grows with each reply, and says tokens and cost', async () => {
  await page.getByRole('button', { name: 'Context: 0% full' }).waitFor();
  await chat.say('Look');
  await page.getByRole('button', { name: 'Context: 30% full' }).waitFor();
  await page.getByRole('button', { name: 'Context: 30% full' }).hover();
  await page.getByText('30,000 of 100,000 tokens · $0.50 so far').waitFor();
  await atRest();
});

test('the panel tells what is in the context and what the chat used, live and after a reload alike', async () => {
  await page.getByRole('button', { name: 'Context: 30% full' }).click();
  await panelOf().getByText('30,000 of 100,000 tokens').waitFor();
  const rows = async () => (await panelOf().getByRole('row').allInnerTexts()).map((row) => row.split('\t')[0].trim());
  await until(async () => (await rows()).includes('Tool results'), 'the parts');
  for (const part of ['Mode and role instructions', 'Tools', 'AGENTS.md', 'Your messages', 'The agent’s messages', 'Tool calls', 'Tool results']) assert.ok((await rows()).includes(part), part);
  const used = () => panelOf().getByRole('definition').allInnerTexts();
  const live = await used();
  assert.deepEqual(live, ['38,000', '8,000', '2,000', '$0.50']);
  await picture(page, 'context');
  await page.reload();
  await page.getByRole('button', { name: 'Context: 30% full' }).click();
  await until(async () => JSON.stringify(await used()) === JSON.stringify(live), 'the same numbers');
});

test('compacting sums up and leaves the context shorter; then there is nothing to sum up', async () => {
  const words = () => panelOf().getByRole('row', { name: /Tool results/ });
  await words().waitFor();
  await panelOf().getByRole('button', { name: 'Compact now' }).click();
  await panelOf().getByRole('row', { name: /Summary of earlier messages/ }).waitFor();
  await words().waitFor({ state: 'detached' });
  await panelOf().getByText('Nothing new to summarize.').waitFor();
  assert.ok(await panelOf().getByRole('button', { name: 'Compact now' }).isDisabled());
  await page.getByRole('button', { name: 'Context: 0% full' }).waitFor();
});

test('a failure says why, with another try', async () => {
  await page.route('**/context', (route) => route.fulfill({ status: 422, json: { error: { code: 'VALIDATION_FAILED', message: 'Not now.', retryable: false } } }));
  await page.reload();
  await page.getByRole('button', { name: 'Side panel' }).click();
  await page.getByRole('tab', { name: 'Context' }).click();
  await panelOf().getByText('Not now.').waitFor();
  await page.unrouteAll();
  await panelOf().getByRole('button', { name: 'Try again' }).click();
  await panelOf().getByText('What is in it').waitFor();
  assert.deepEqual(faults, []);
});
