// Writing, sending, stopping, editing.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { composer, escapeTwice, history, openBrowser, say, startServer, until, words } from './support.mjs';

let server, page, context;
before(async () => {
  server = await startServer({ model: { plan: [{ reasoning: 'I weigh every word.', text: words(200), delay_ms: 40 }, { text: 'Short.' }], repeat: true } });
  ({ page, context } = await openBrowser(server));
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
});
const fresh = async () => {
  const chat = await server.newChat();
  await page.goto(chat.url);
  await composer(page).waitFor();
  return chat;
};
const own = (chat) => server.api(`${chat.path}/snapshot`).then(({ messages }) => messages.filter((message) => message.author === 'user').map((message) => message.content));
const stop = async () => {
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await page.getByRole('button', { name: 'Stop', exact: true }).waitFor({ state: 'detached' });
};

test('Enter that ends a composition of an input method does not send', async () => {
  const chat = await fresh();
  await composer(page).focus();
  const client = await context.newCDPSession(page);
  await client.send('Input.imeSetComposition', { text: '你好', selectionStart: 2, selectionEnd: 2 });
  // The very key that an input method takes: a browser reports it as composing, with the code 229.
  await client.send('Input.dispatchKeyEvent', { type: 'rawKeyDown', windowsVirtualKeyCode: 229, key: 'Process', code: 'Enter' });
  await composer(page).evaluate((node) => node.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', isComposing: true, bubbles: true, cancelable: true })));
  await client.send('Input.insertText', { text: '你好' });
  await page.keyboard.press('Shift+Enter');
  await page.keyboard.type('world');
  assert.equal(await composer(page).inputValue(), '你好\nworld');
  assert.deepEqual(await own(chat), []);
  await page.keyboard.press('Enter');
  await until(async () => (await own(chat)).length === 1, 'the message');
  assert.deepEqual(await own(chat), ['你好\nworld']);
  await stop();
});

test('what was typed outlives a reload, and is kept for each chat', async () => {
  const chat = await fresh();
  await composer(page).fill('not yet sent');
  await fresh();
  assert.equal(await composer(page).inputValue(), '');
  await page.goto(chat.url);
  await page.reload();
  await composer(page).waitFor();
  assert.equal(await composer(page).inputValue(), 'not yet sent');
});

test('the composer grows with what is in it', async () => {
  await fresh();
  const height = () => composer(page).evaluate((node) => node.offsetHeight);
  const before = await height();
  await composer(page).fill('a\nb\nc\nd\ne');
  assert.ok((await height()) > before + 40);
  await composer(page).fill('');
  assert.equal(await height(), before);
});

test('a message sent while the agent works is shown as waiting, can be taken back, and one that stays is read', async () => {
  const chat = await fresh();
  await say(page, 'Talk');
  await history(page).getByText('word3').waitFor();
  await say(page, 'Shorter, please');
  await say(page, 'No, never mind');
  const chips = page.getByRole('list', { name: 'Queued' });
  await chips.getByText('No, never mind').waitFor();
  await chips.getByRole('listitem').filter({ hasText: 'No, never mind' }).getByRole('button', { name: 'Take back' }).click();
  await chips.getByText('No, never mind').waitFor({ state: 'detached' });
  await history(page).getByText('Short.').waitFor();
  await chips.waitFor({ state: 'detached' });
  assert.deepEqual(await own(chat), ['Talk', 'Shorter, please']);
});

test('Escape twice stops; sending again goes on', async () => {
  const chat = await fresh();
  await say(page, 'Talk');
  await history(page).getByText('word3').waitFor();
  await composer(page).focus();
  await escapeTwice(page);
  await history(page).getByText('Interrupted here').waitFor();
  await history(page).getByRole('article', { name: 'You' }).hover();
  await history(page).getByRole('button', { name: 'Send again' }).click();
  await until(async () => (await own(chat)).join() === 'Talk,Talk', 'the second message');
});

test('HM-5: the reasoning of an answer that was interrupted stays with it', async () => {
  await fresh();
  await say(page, 'Talk');
  await history(page).getByText('word3').waitFor();
  await stop();
  await history(page).getByText('Interrupted here').waitFor();
  const fold = history(page).getByRole('button', { name: 'Reasoning' });
  await fold.waitFor();
  await page.reload();
  await fold.click();
  await history(page).getByText('I weigh every word.').waitFor();
});

test('an edited message goes to a chat of its own that begins as this one did', async () => {
  const chat = await fresh();
  await say(page, 'Talk');
  await history(page).getByText('word3').waitFor();
  await stop();
  await history(page).getByRole('article', { name: 'You' }).hover();
  await history(page).getByRole('button', { name: 'Edit and send in a new chat' }).click();
  await until(async () => (await composer(page).inputValue()) === 'Talk', 'the message to edit');
  await composer(page).fill('Talk less');
  await page.keyboard.press('Enter');
  await page.waitForURL((url) => url.pathname.includes('/c/') && !url.href.includes(chat.id));
  await history(page).getByText('Talk less').waitFor();
  assert.deepEqual(await own(chat), ['Talk'], 'the first chat is as it was');
});

test('a message is copied', async () => {
  await fresh();
  await say(page, 'Copy me');
  const mine = history(page).getByRole('article', { name: 'You' });
  await mine.hover();
  await mine.getByRole('button', { name: 'Copy message' }).click();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), 'Copy me');
});
