// The list of chats tells what each wants, as it happens.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { composer, history, openBrowser, startServer, until, words } from './support.mjs';

test('running, waiting for you, unread, new, renamed and deleted chats show in the list without a reload', async () => {
  const ask = { name: 'x', question: 'Really?', schema: { type: 'boolean' } };
  const server = await startServer({ model: { plan: [{ text: words(60), delay_ms: 50 }, { text: 'A question.', calls: [{ tool: 'ask_user', args: { questions: [ask] } }] }] } });
  const chat = await server.newChat({ title: 'Watched' });
  const { page, faults } = await openBrowser(server);
  const row = (name) => page.getByRole('navigation').getByRole('link', { name });
  await row(/Watched/).click();
  await composer(page).waitFor();
  await page.getByRole('link', { name: 'Planwright' }).click();

  await chat.say('Talk');
  await row(/Watched/).getByLabel('Running').waitFor();
  await row(/Watched/).getByLabel('Unread').waitFor();
  await chat.say('Ask');
  await row(/Watched/).getByText('Waiting for you').waitFor();
  await page.getByRole('main').getByRole('link', { name: /Really\?.*Watched/ }).click();
  await history(page).getByText('A question.').waitFor();
  await server.api(`${chat.path}/stop`, 'POST', {});
  await row(/Watched/).getByText('Waiting for you').waitFor({ state: 'detached' });

  const second = await server.newChat({ title: 'From elsewhere' });
  await row(/From elsewhere/).waitFor();
  await server.api(second.path, 'PATCH', { title: 'Named anew', agent_mode: 'act' });
  await row(/Build: Named anew/).waitFor();
  await server.api(second.path, 'DELETE');
  await row(/Named anew/).waitFor({ state: 'detached' });
  assert.deepEqual(faults, []);
});

test('Alt+Up and Alt+Down walk through the chats, Mod+Shift+O makes one, Mod+B hides the list', async () => {
  const server = await startServer({ model: { turns: [{ text: 'Hi.' }], repeat: true } });
  for (const title of ['First', 'Second', 'Third']) await server.newChat({ title });
  const { page } = await openBrowser(server);
  const heading = (name) => page.getByRole('heading', { level: 1, name });
  await page.getByRole('navigation').getByRole('link', { name: /Second/ }).click();
  await heading('Second').waitFor();
  await page.keyboard.press('Alt+ArrowUp');
  await heading('Third').waitFor();
  await page.keyboard.press('Alt+ArrowDown');
  await heading('Second').waitFor();
  await page.keyboard.press('Alt+ArrowDown');
  await heading('First').waitFor();
  await page.keyboard.press('Control+b');
  await page.getByRole('navigation', { name: 'Chats' }).waitFor({ state: 'detached' });
  const address = page.url();
  await page.keyboard.press('Control+Shift+O');
  await until(() => page.url() !== address, 'the new chat');
  await composer(page).waitFor();
});

test('on the first page files are offered after an @, and commands after a slash', async () => {
  const server = await startServer({ model: { turns: [{ text: 'Read.' }], repeat: true } });
  const { page, faults } = await openBrowser(server);
  const box = page.getByRole('textbox', { name: 'First message of a new chat' });
  await box.fill('Look at @lib');
  await page.getByRole('option', { name: 'src/lib.rs' }).waitFor();
  await box.press('Enter');
  await until(async () => /^Look at @?\/?src\/lib\.rs $/.test(await box.inputValue()), 'the name of the file');
  await box.fill('/settings');
  await page.getByRole('option', { name: /settings/ }).waitFor();
  await box.press('Enter');
  await page.waitForURL('**/settings**');
  assert.deepEqual(faults, []);
});

test('a history of several pages is read upwards without a jump, and the way back to the end is a click', async () => {
  const server = await startServer({ model: { turns: [{ text: 'Yes.' }], repeat: true } });
  const chat = await server.newChat();
  for (let index = 1; index <= 45; index += 1) {
    await chat.say(`Question ${index}`);
    await until(async () => (await server.api(chat.path)).state === 'idle' && (await server.api(`${chat.path}/messages?limit=1`))[0].author === 'assistant', 'the answer');
  }
  const { page } = await openBrowser(server);
  await page.goto(chat.url);
  const log = history(page);
  await log.getByText('Question 45', { exact: true }).waitFor();
  assert.equal(await log.getByText('Question 1', { exact: true }).count(), 0);
  await until(async () => {
    await log.hover();
    await page.mouse.wheel(0, -400);
    return (await log.getByText('Question 1', { exact: true }).count()) > 0;
  }, 'the first question');
  await page.getByRole('button', { name: 'Jump to latest' }).click();
  await log.getByText('Question 45', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Jump to latest' }).waitFor({ state: 'detached' });
});
