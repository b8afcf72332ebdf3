// Where a workspace requires a plan, the page says so before anything is refused; and what the classifier may do.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { PLAN, composer, history, openBrowser, say, shownMode, startServer, until } from './support.mjs';

const BARE = { ...PLAN, steps: PLAN.steps.map(({ files: _, ...step }) => step) };
const REQUIRED = 'This workspace requires an approved plan before anything changes.';

let server, page, faults;
before(async () => {
  server = await startServer({
    model: {
      plan: [{ calls: [{ tool: 'write_plan', args: PLAN }] }, { text: 'Ready.' }, { text: 'Still planning.' }],
      act: [{ calls: [{ tool: 'write', args: { path: '/src/farewell.rs', content: 'x' } }] }, { text: 'Done.' }],
      intent: { text: 'EXECUTE_NOW' },
      repeat: true,
    },
    files: { '.planwright/config.toml': '[policy]\nact_requires_plan = true\nplan_requires_files = true\n' },
  });
  ({ page, faults } = await openBrowser(server));
});

const fresh = async (body) => {
  const chat = await server.newChat(body);
  await page.goto(chat.url);
  await composer(page).waitFor();
  return chat;
};
const note = () => page.getByRole('note').getByText(REQUIRED);
const toggle = (name) => page.getByRole('radiogroup', { name: 'Mode' }).getByRole('radio', { name });

test('a chat switched to Build by hand says that a plan is required, and changes nothing', async () => {
  const chat = await fresh();
  assert.equal(await note().count(), 0, 'not in Plan');
  await toggle('Build').hover();
  await page.getByRole('tooltip', { name: REQUIRED }).waitFor();
  await toggle('Build').click();
  await note().waitFor();
  await say(page, 'Write it');
  await history(page).getByText('Done.').waitFor();
  const messages = await server.api(`${chat.path}/messages`);
  assert.ok(messages.some((message) => message.metadata.error?.code === 'PLAN_REQUIRED'));
  assert.equal(await note().count(), 1);
});

test('with an approved plan nothing is in the way, as long as it has open steps', async () => {
  await fresh();
  await say(page, 'Say goodbye');
  await history(page).getByText('Ready.').waitFor();
  await page.getByRole('button', { name: 'Execute Plan' }).first().click();
  await until(async () => (await shownMode(page)) === 'act', 'act mode');
  await history(page).getByText('Done.').waitFor();
  assert.equal(await note().count(), 0);
});

test('Execute Plan says why a plan that names no files can not be approved', async () => {
  writeFileSync(join(server.home, 'script.json'), JSON.stringify({ plan: [{ calls: [{ tool: 'write_plan', args: BARE }] }, { text: 'Ready.' }], repeat: true }));
  await fresh();
  await say(page, 'Say goodbye');
  await history(page).getByText('Ready.').waitFor();
  const button = page.getByRole('button', { name: 'Execute Plan' }).first();
  await page.getByText('This workspace requires plans that name their files.').first().waitFor();
  assert.equal(await button.getAttribute('aria-disabled'), 'true');
  await button.click({ force: true });
  assert.equal(await shownMode(page), 'plan');
});

test('the settings tell the policy, and switch the classifier on, whose suggestion is a button and no more', async () => {
  await page.goto(`${server.url}/settings/modes`);
  await page.getByText('Nothing changes before you approve a plan. Until then only the Tester runs commands.').waitFor();
  await page.getByText('A plan whose steps name no files can’t be approved.').waitFor();
  await page.getByRole('radio', { name: /is classified by the model/ }).click();
  await page.getByRole('status').getByText(/^Saved/).waitFor();
  writeFileSync(join(server.home, 'script.json'), JSON.stringify({ plan: [{ calls: [{ tool: 'write_plan', args: PLAN }] }, { text: 'Ready.' }, { text: 'Still planning.' }], intent: { text: 'EXECUTE_NOW' } }));
  await fresh();
  await say(page, 'Say goodbye');
  await history(page).getByText('Ready.').waitFor();
  await say(page, 'Yes');
  await history(page).getByText('Still planning.').waitFor();
  await page.getByText('Execute the plan now?').waitFor();
  assert.equal(await shownMode(page), 'plan');
  assert.deepEqual(faults, []);
});
