// What the composers send besides words: images and text files, earlier prompts, and the model and effort of a chat (HM-4).
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { violations } from './axe.mjs';
import { composer, history, openBrowser, say, startServer, until } from './support.mjs';

const PIXEL = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==', 'base64');
const png = (name) => ({ name, mimeType: 'image/png', buffer: PIXEL });
const text = (name, content) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(content) });
const SEES = '[image/png, 70 bytes]';

let server, page, faults;
before(async () => {
  server = await startServer({
    model: {
      images: true,
      plan: [
        { text: 'Seen in the inbox.', told: [SEES, 'the build broke at noon'] },
        { text: 'Seen in the chat.', told: [SEES] },
        { text: 'Fine.' },
      ],
    },
  });
  ({ page, faults } = await openBrowser(server));
});

const attached = () => page.getByRole('list', { name: 'Attached' }).getByRole('listitem');
const first = () => page.getByRole('textbox', { name: 'First message of a new chat' });
const mine = () => history(page).getByRole('article', { name: 'You' });
/** Has files come to a field as a person would paste or drop them. */
const bring = (field, kind, files) =>
  field.evaluate(
    (node, [event, all]) => {
      const data = new DataTransfer();
      for (const { name, type, bytes } of all) data.items.add(new File([Uint8Array.from(bytes)], name, { type }));
      node.dispatchEvent(event === 'paste' ? new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }) : new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
    },
    [kind, files.map(({ name, mimeType, buffer }) => ({ name, type: mimeType, bytes: [...buffer] }))],
  );
const drawn = (image) => until(() => image.evaluate((node) => node.complete && node.naturalWidth === 1), 'the image to be drawn');

test('HM-4: images and text files come by paste, drop and button, are sent with a new chat, and stand in its history', async () => {
  await first().waitFor();
  await bring(first(), 'paste', [png('pasted.png')]);
  await bring(first(), 'drop', [text('notes.txt', 'the build broke at noon')]);
  await page.locator('input[type=file]').setInputFiles([png('picked.png')]);
  await until(async () => (await attached().count()) === 3, 'three attachments');
  assert.deepEqual(await violations(page), []);
  await attached().filter({ hasText: 'picked.png' }).getByRole('button', { name: 'Remove picked.png' }).click();
  await until(async () => (await attached().count()) === 2, 'two attachments');
  await first().fill('What broke?');
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await history(page).getByText('Seen in the inbox.').waitFor();
  await drawn(mine().getByRole('img', { name: 'pasted.png' }));
  await mine().getByText('notes.txt').click();
  await mine().getByText('the build broke at noon').waitFor();
  assert.equal(await mine().getByText('attached name').count(), 0, 'the frame is for the model');
  await page.reload();
  await drawn(mine().getByRole('img', { name: 'pasted.png' }));
  assert.deepEqual(await violations(page), []);
});

test('HM-4: the composer of a chat takes them as well, also without words, and an edit brings them along', async () => {
  await bring(composer(page), 'paste', [png('again.png')]);
  await attached().first().waitFor();
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await history(page).getByText('Seen in the chat.').waitFor();
  await drawn(mine().last().getByRole('img', { name: 'again.png' }));
  await until(async () => (await attached().count()) === 0, 'an empty composer');
  await mine().first().hover();
  await mine().first().getByRole('button', { name: 'Edit and send in a new chat' }).click();
  await until(async () => (await attached().count()) === 2, 'what came with the message');
  assert.equal(await composer(page).inputValue(), 'What broke?');
  await page.getByRole('button', { name: 'Discard edit' }).click();
  await until(async () => (await attached().count()) === 0, 'an empty composer');
  assert.deepEqual(faults, []);
});

test('HM-4: what can’t be sent is refused with the reason', async () => {
  const pick = (...files) => page.locator('input[type=file]').setInputFiles(files);
  await pick(text('large.log', 'x'.repeat((256 << 10) + 1)));
  await page.getByText('Can’t attach large.log. A text file can have at most 256 KB.').waitFor();
  await pick({ name: 'program.bin', mimeType: 'image/png', buffer: Buffer.from([1, 0, 2, 255]) });
  await page.getByText('Can’t attach program.bin. It is neither text nor').waitFor();
  await pick({ ...png('huge.png'), buffer: Buffer.concat([PIXEL, Buffer.alloc(5 << 20)]) });
  await page.getByText('Can’t attach huge.png. An image can have at most 5 MB.').waitFor();
  await pick(...Array.from({ length: 9 }, (_, index) => text(`${index}.txt`, 'x')));
  await page.getByText('Can’t attach 8.txt. A message takes at most 8 attachments.').waitFor();
  assert.equal(await attached().count(), 8);
});

test('HM-4: up and down go through earlier prompts, and leave what was typed alone', async () => {
  await page.goto((await server.newChat()).url);
  for (const words of ['one', 'two\nlines']) {
    await composer(page).fill(words);
    await composer(page).press('Enter');
    await mine().getByText(words.split('\n')[0], { exact: true }).or(mine().filter({ hasText: words.split('\n')[0] })).first().waitFor();
  }
  const shows = (words) => until(async () => (await composer(page).inputValue()) === words, `“${words}”`);
  await composer(page).press('ArrowUp');
  await shows('two\nlines');
  await composer(page).press('ArrowUp');
  await composer(page).press('ArrowUp');
  await shows('one');
  await composer(page).press('ArrowDown');
  await shows('two\nlines');
  await composer(page).press('ArrowDown');
  await shows('');
  await composer(page).fill('typed');
  await composer(page).press('ArrowUp');
  assert.equal(await composer(page).inputValue(), 'typed');
  await composer(page).fill('');
  await page.goto(server.url);
  await first().waitFor();
  await first().press('ArrowUp');
  await until(async () => (await first().inputValue()) === 'two\nlines', 'the newest prompt, in the inbox');
});

test('HM-4: a model and an effort are chosen for a chat out of those configured, and its runs use them', async () => {
  const other = await startServer({ model: null });
  const config = `[models]\nplan = "lab/one"\nact = "lab/two"\n[providers.lab]\nkind = "script"\npath = "${other.home}"\n`;
  writeFileSync(join(other.home, 'one'), JSON.stringify({ turns: [{ text: 'I am one.' }], repeat: true }));
  writeFileSync(join(other.home, 'two'), JSON.stringify({ turns: [{ text: 'I am two.' }], repeat: true, images: true }));
  other.configure(config);
  await other.restart();
  const { page: tab, faults: wrong } = await openBrowser(other);
  const chip = (name) => tab.getByRole('combobox', { name, exact: true });
  await chip('Model').waitFor();
  assert.deepEqual(await chip('Model').locator('option').allTextContents(), ['Default: one', 'one', 'two']);
  await chip('Model').selectOption('lab/two');
  await chip('Effort').selectOption('high');
  await tab.getByRole('textbox', { name: 'First message of a new chat' }).fill('Who are you?');
  await tab.getByRole('button', { name: 'Start', exact: true }).click();
  await history(tab).getByText('I am two.').waitFor();
  await until(async () => (await chip('Model').inputValue()) === 'lab/two' && (await chip('Effort').inputValue()) === 'high', 'the choice in the chat');
  assert.deepEqual(await violations(tab), []);
  await chip('Model').selectOption('');
  await until(async () => (await other.api(`/workspaces/${await other.workspaceId()}/chats`))[0].model === null, 'the configured model');
  await say(tab, 'And now?');
  await history(tab).getByText('I am one.').waitFor();

  // A model that can't see says so; with one that can, the same message goes out.
  await bring(composer(tab), 'paste', [png('unseen.png')]);
  await tab.getByRole('list', { name: 'Attached' }).waitFor();
  await say(tab, 'Look at this');
  const refusal = tab.getByRole('alert').filter({ hasText: 'Not sent' });
  await refusal.getByText(/lab\/one is not known to look at images/).waitFor();
  assert.equal(await composer(tab).inputValue(), 'Look at this');
  await tab.reload();
  await refusal.getByText(/lab\/one is not known to look at images/).waitFor();
  await tab.getByRole('list', { name: 'Attached' }).getByText('unseen.png').waitFor();
  assert.equal(await composer(tab).inputValue(), 'Look at this');
  assert.equal(await history(tab).getByText('Look at this').count(), 0);
  assert.deepEqual(await violations(tab), []);
  await chip('Model').selectOption('lab/two');
  await until(async () => (await other.api(`/workspaces/${await other.workspaceId()}/chats`))[0].model === 'lab/two', 'the other model');
  await composer(tab).press('Enter');
  await history(tab).getByText('I am two.').nth(1).waitFor();
  await drawn(history(tab).getByRole('img', { name: 'unseen.png' }));
  await tab.reload();
  await until(async () => (await chip('Model').inputValue()) === 'lab/two', 'the choice after a reload');
  assert.deepEqual(wrong, []);
});

test('HM-4: what was typed and attached at home outlives a reload; a refused first message stands in the composer of its chat', async () => {
  const { page: tab, faults: wrong } = await openBrowser(server);
  const first = tab.getByRole('textbox', { name: 'First message of a new chat' });
  const attached = tab.getByRole('list', { name: 'Attached' });
  await first.fill('Look at these');
  await bring(first, 'paste', [png('chart.png')]);
  await attached.getByText('chart.png').waitFor();
  await bring(first, 'drop', [text('invoice\u202efdp.txt', 'one line')]);
  await attached.getByText('invoice⟨U+202E⟩fdp.txt').waitFor();
  await attached.getByText('8\u00a0B').waitFor();
  await tab.reload();
  await attached.getByText('chart.png').waitFor();
  await attached.getByText('invoice⟨U+202E⟩fdp.txt').waitFor();
  assert.equal(await first.inputValue(), 'Look at these');

  await tab.route('**/messages', (route) => route.fulfill({ status: 413, json: { error: { code: 'TOO_LARGE', message: 'The request is larger than 2 MiB.', retryable: false } } }));
  await tab.getByRole('button', { name: 'Start', exact: true }).click();
  const refusal = tab.getByRole('alert').filter({ hasText: 'Not sent. This is too large.' });
  await refusal.getByText('The request is larger than 2 MiB.').waitFor();
  await tab.unrouteAll();
  await tab.reload();
  await refusal.waitFor();
  await attached.getByText('chart.png').waitFor();
  assert.equal(await composer(tab).inputValue(), 'Look at these');
  await composer(tab).press('Enter');
  await history(tab).getByText('Look at these').waitFor();
  await refusal.waitFor({ state: 'detached' });
  await attached.waitFor({ state: 'detached' });
  await tab.goto(server.url);
  await first.waitFor();
  assert.equal(await first.inputValue(), '');
  assert.equal(await attached.count(), 0);
  assert.deepEqual(wrong, []);
});

test('refusals are told in the language of the page, with the sentence of the server', async () => {
  const { page: tab } = await openBrowser(server, { locale: 'zh-CN' });
  await tab.route('**/messages', (route) => route.fulfill({ status: 422, json: { error: { code: 'VALIDATION_FAILED', message: 'The content is empty.', retryable: false } } }));
  await tab.getByRole('textbox', { name: '新对话的第一条消息' }).fill('你好');
  await tab.getByRole('button', { name: '开始', exact: true }).click();
  await tab.getByRole('alert').filter({ hasText: '未发送。服务器不接受此内容。' }).getByText('The content is empty.').waitFor();
  assert.equal(await tab.getByRole('banner').getByRole('heading', { level: 1 }).textContent(), '新对话');
});
