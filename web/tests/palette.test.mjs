// Finding things by their names: the palette, slash commands, @files, search in a chat and over chats.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { composer, history, openBrowser, PLAN, say, shownMode, startServer, until } from './support.mjs';

let server, page, faults;
before(async () => {
  server = await startServer({
    model: { plan: [{ text: 'The word is marzipan.' }, { text: 'A plan.', calls: [{ tool: 'write_plan', args: PLAN }] }, { text: 'Ready.' }], act: [{ text: 'Building.' }], repeat: true },
    files: { 'docs/guide.md': '# Guide\n', 'target/hidden.rs': '', '.gitignore': 'target\n' },
  });
  ({ page, faults } = await openBrowser(server));
});

const fresh = async (body) => {
  const chat = await server.newChat(body);
  await page.goto(chat.url);
  await composer(page).waitFor();
  return chat;
};
const palette = () => page.getByRole('dialog', { name: 'Commands and search' });
const open = async () => {
  await page.keyboard.press('Control+k');
  await palette().getByRole('combobox').waitFor();
};
const offers = () => page.getByRole('listbox', { name: /Commands|Files/ }).getByRole('option');

test('Mod+K opens the palette: a command is found by its words and done by Enter', async () => {
  await fresh();
  await open();
  await page.keyboard.type('switch to build');
  await page.keyboard.press('Enter');
  await until(async () => (await shownMode(page)) === 'act', 'act mode');
  await palette().waitFor({ state: 'detached' });
  await open();
  await page.keyboard.press('Escape');
  await palette().waitFor({ state: 'detached' });
});

test('the palette goes to chats, to settings, and to files, which it opens beside the chat', async () => {
  const other = await server.newChat({ title: 'About pomegranates' });
  await fresh();
  await open();
  await page.keyboard.type('guide.md');
  await palette().getByRole('option', { name: /docs\/guide\.md/ }).click();
  await page.getByRole('complementary').getByText('guide.md').first().waitFor();
  await open();
  await page.keyboard.type('pomegran');
  await palette().getByRole('option', { name: /About pomegranates/ }).click();
  await until(() => page.url().includes(other.id), 'the other chat');
  await open();
  await page.keyboard.type('settings');
  await palette().getByRole('option', { name: /^Settings/ }).click();
  await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
});

test('what was said in any chat is found, and the conversation goes there', async () => {
  const chat = await fresh({ title: 'Sweets' });
  await say(page, 'Tell me a word');
  await history(page).getByText('The word is marzipan.').waitFor();
  await page.goto(server.url);
  await page.getByRole('searchbox', { name: 'Search chats' }).fill('marzipan');
  await page.getByRole('button', { name: 'In messages: “marzipan”' }).click();
  await palette().getByRole('option', { name: /The word is marzipan/ }).first().click();
  await until(() => page.url().includes(`${chat.id}?m=`), 'the address of the message');
  await history(page).locator('[data-marked]').getByText('marzipan').waitFor();
});

test('a search that the server refuses says so in the palette', async () => {
  await fresh();
  await page.route('**/api/v1/search**', (route) => route.fulfill({ status: 500, json: { error: { code: 'INTERNAL', message: 'The disk is full.', retryable: false } } }));
  await open();
  await page.keyboard.type('anything');
  await palette().getByText('Search failed: The disk is full.').waitFor();
  await page.unrouteAll();
});

test('a slash offers commands; arrows, Enter and Tab choose, Escape leaves the text as it is', async () => {
  await fresh({ agent_mode: 'act' });
  await composer(page).pressSequentially('/pl');
  await offers().filter({ hasText: '/plan' }).first().waitFor();
  assert.deepEqual((await offers().allInnerTexts()).map((text) => text.split('\n')[0]).slice(0, 3), ['/plan', '/planner', '/plan-panel']);
  await page.keyboard.press('Escape');
  await offers().first().waitFor({ state: 'detached' });
  assert.equal(await composer(page).inputValue(), '/pl');
  await composer(page).fill('');
  await composer(page).pressSequentially('/pla');
  await offers().first().waitFor();
  await page.keyboard.press('Enter');
  await until(async () => (await shownMode(page)) === 'plan', 'plan mode');
  assert.equal(await composer(page).inputValue(), '');
  assert.equal(await history(page).getByText('/pla').count(), 0, 'nothing was sent');
});

test('a command takes what is written after it, and a path is a message like any other', async () => {
  const chat = await fresh();
  await composer(page).pressSequentially('/ren');
  await offers().first().waitFor();
  // Who types on within the same frame finds the caret where it belongs.
  const typed = await composer(page).evaluate(async (box) => {
    box.dispatchEvent(new KeyboardEvent('keydown', { key: 'Tab', bubbles: true, cancelable: true }));
    document.execCommand('insertText', false, 'Named by');
    await new Promise((later) => requestAnimationFrame(() => requestAnimationFrame(later)));
    return [box.value, box.selectionStart];
  });
  assert.deepEqual(typed, ['/rename Named by', '/rename Named by'.length]);
  await page.keyboard.type(' a slash');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Named by a slash' }).waitFor();
  await say(page, '/src/lib.rs looks odd');
  await history(page).getByText('/src/lib.rs looks odd').waitFor();
  // What looks like a command and is none waits for a second word.
  await say(page, '/nosuch thing');
  await page.getByRole('alert').getByText('There is no command /nosuch').waitFor();
  assert.equal(await composer(page).inputValue(), '/nosuch thing');
  await composer(page).press('Enter');
  await history(page).getByText('/nosuch thing').waitFor();
  assert.equal(await composer(page).inputValue(), '');
  assert.equal((await server.api(chat.path)).title, 'Named by a slash');
});

test('an @ offers files as they are typed, without what is ignored, and puts the path into the message', async () => {
  await fresh();
  await composer(page).pressSequentially('Look at @gui');
  await offers().filter({ hasText: '/docs/guide.md' }).waitFor();
  await page.keyboard.press('Enter');
  await until(async () => (await composer(page).inputValue()) === 'Look at @/docs/guide.md ', 'the path');
  await page.keyboard.type('and @hidden');
  await page.getByText('No file has “hidden” in its path.').waitFor();
  await page.keyboard.press('Enter');
  await history(page).getByText('Look at @/docs/guide.md and @hidden').waitFor();
});

test('Mod+F finds words in the chat, also in what is not loaded, and goes from one to the next', async () => {
  const chat = await fresh();
  for (let index = 1; index <= 40; index += 1) {
    await chat.say(index === 2 ? 'A needle' : `Hay ${index}`);
    await until(async () => (await server.api(chat.path)).state === 'idle' && (await server.api(`${chat.path}/messages?limit=1`))[0].author !== 'user', 'the answer');
  }
  await chat.say('Another needle');
  await page.goto(chat.url);
  await history(page).getByText('Another needle').waitFor();
  assert.equal(await history(page).getByText('A needle', { exact: true }).count(), 0, 'not loaded yet');
  await page.keyboard.press('Control+f');
  await page.getByRole('textbox', { name: 'Find in this chat' }).fill('needle');
  await page.getByRole('status').getByText('1 of 2').waitFor();
  await history(page).locator('[data-marked]').getByText('Another needle').waitFor();
  const words = () => page.evaluate(() => [...(CSS.highlights.get('found-words') ?? [])].map(String));
  await until(async () => (await words()).includes('needle'), 'the words to be marked');
  await page.keyboard.press('Enter');
  await history(page).locator('[data-marked]').getByText('A needle').waitFor();
  await page.getByRole('status').getByText('2 of 2').waitFor();
  await page.getByRole('textbox', { name: 'Find in this chat' }).fill('nowhere');
  await page.getByRole('status').getByText('No matches').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('search').waitFor({ state: 'detached' });
  assert.deepEqual(await words(), []);
});

test('Mod+/ lists every key', async () => {
  await fresh();
  await page.keyboard.press('Control+/');
  const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  for (const key of ['Ctrl+K', 'Ctrl+F', 'Alt+Q', '/ · @']) await dialog.getByText(key, { exact: true }).waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
});

test('none of this broke the page', () => assert.deepEqual(faults, []));
