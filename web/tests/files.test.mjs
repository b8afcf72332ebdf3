// The files of the workspace beside the chat: tree, types, viewer, keyboard.
import assert from 'node:assert/strict';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { Stage, PAYLOADS, nothingRan, picture } from './stage.mjs';
import { until } from './support.mjs';

let stage, page, panel, chat;
const item = (name) => panel.getByRole('treeitem', { name });
before(async () => {
  stage = await Stage.set({ act: [{ text: 'Ready to build.' }], obey: true });
  writeFileSync(join(stage.workspace, 'picture.bin'), Buffer.from([0, 1, 2, 255]));
  writeFileSync(join(stage.workspace, 'empty.txt'), '');
  writeFileSync(join(stage.workspace, 'hostile.html'), PAYLOADS.join('\n'));
  writeFileSync(join(stage.workspace, 'long.py'), Array.from({ length: 3000 }, (_, index) => `line_${index + 1} = "${index}"`).join('\n'));
  writeFileSync(join(stage.workspace, 'huge.txt'), 'a line\n'.repeat(500_000));
  symlinkSync('/etc/passwd', join(stage.workspace, 'link'));
  chat = await stage.chat({ title: 'Files' });
  page = await stage.open(chat);
  await page.getByRole('button', { name: 'Side panel' }).click();
  panel = page.getByRole('complementary', { name: 'Side panel' });
  await panel.getByRole('tab', { name: 'Files' }).click();
});

test('folders open and close, and each file says what it is', async () => {
  await item('src').click();
  await item('lib.rs').waitFor();
  assert.equal(await item('src').getAttribute('aria-expanded'), 'true');
  assert.equal(await item('lib.rs').getAttribute('aria-level'), '2');
  assert.equal(await item('lib.rs').getAttribute('data-type'), 'document');
  assert.equal(await item(/link/).getAttribute('aria-disabled'), 'true');
  await picture(page, 'files-tree');
  await item('src').click();
  await item('lib.rs').waitFor({ state: 'detached' });
});

test('the tree is walked by keys', async () => {
  await item('src').focus();
  await page.keyboard.press('ArrowRight');
  await item('lib.rs').waitFor();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('End');
  await page.keyboard.press('Home');
  const first = await page.evaluate(() => document.activeElement?.getAttribute('data-path'));
  assert.equal(first, await panel.getByRole('treeitem').first().getAttribute('data-path'));
  await item('lib.rs').focus();
  await page.keyboard.press('ArrowLeft');
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('data-path')), '/src');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await panel.getByRole('region', { name: 'Content of /src/lib.rs' }).waitFor();
});

test('a file is shown with colours and line numbers', async () => {
  const content = panel.getByRole('region', { name: 'Content of /src/lib.rs' });
  await content.locator('.hljs-keyword', { hasText: 'pub' }).first().waitFor();
  assert.match(await content.locator('pre').first().innerText(), /^1\n2\n3/);
  await picture(page, 'files-viewer');
  await panel.getByRole('button', { name: 'Back to the files' }).click();
  await item('lib.rs').waitFor();
});

test('what is no text, empty, long or hostile is shown as what it is', async () => {
  const open = async (name) => {
    await item(name).click();
    await panel.getByRole('heading', { name: `/${name}` }).waitFor();
  };
  const back = () => panel.getByRole('button', { name: 'Back to the files' }).click();
  await open('picture.bin');
  await panel.getByText('Not a text file').waitFor();
  await back();
  await open('empty.txt');
  await panel.getByText('The file is empty.').waitFor();
  await back();
  await open('long.py');
  await until(async () => (await panel.getByRole('region', { name: 'Content of /long.py' }).locator('pre').first().innerText()).endsWith('3000'), 'all lines');
  await back();
  await open('hostile.html');
  await panel.getByText('window.ran=1').first().waitFor();
  assert.ok(await nothingRan(page));
  await back();
});

test('a file that is too large is told in plain words, without another try', async () => {
  await item('huge.txt').click();
  await panel.getByText('This file is too large to show').waitFor();
  assert.equal(await panel.getByRole('button', { name: 'Try again' }).count(), 0);
  await panel.getByRole('button', { name: 'Back to the files' }).click();
  assert.match(await item(/link/).getAttribute('title'), /can lead outside the workspace/);
});

test('plans and chats are told from documents, and new files show without a reload', async () => {
  const plan = { goal: 'A new file', steps: [{ step_number: 1, action: 'Write it', reason: 'So.', tools_needed: ['write'], files: ['/new.txt'] }] };
  await stage.say(chat, `CALL write_plan ${JSON.stringify(plan)}`);
  await item('plans').click();
  await until(async () => (await item(/a-new-file\.plan/).getAttribute('data-type')) === 'plan', 'the plan');
  assert.match(await item(/a-new-file\.plan/).innerText(), /plan$/);
  await item('.planwright').click();
  await item('chats').click();
  await until(async () => (await item(/\.chat/).first().getAttribute('data-type')) === 'chat', 'the chat file');
});

test('a folder that can not be read says why, with another try', async () => {
  await page.route('**/files?*', (route) => route.abort());
  await page.reload();
  // The chat has a plan by now, so the panel is open.
  await panel.getByRole('tab', { name: 'Files' }).click();
  await panel.getByRole('alert').getByText('Can’t reach the server').waitFor();
  await page.unrouteAll();
  await panel.getByRole('button', { name: 'Try again' }).click();
  await item('src').waitFor();
  assert.deepEqual(page.faults, []);
});
