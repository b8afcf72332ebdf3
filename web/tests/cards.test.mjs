// Each type of message has its card (CM-4).
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { composer, history, openBrowser, say, startServer, until } from './support.mjs';

const LONG = Array.from({ length: 2000 }, (_, index) => `line ${index + 1} of a file that is too long to be sent with the history`).join('\n');
let server, page, faults;
before(async () => {
  server = await startServer({
    files: { 'long.txt': LONG },
    model: {
      plan: [
        { text: 'Looking **around**:\n\n```rust\nfn main() {}\n```', calls: [{ tool: 'read', args: { path: '/src/lib.rs' } }, { tool: 'ls', args: { path: '/' } }, { tool: 'grep', args: { pattern: 'fn ' } }] },
        { text: 'Trying.', calls: [{ tool: 'write', args: { path: '/src/lib.rs', content: 'no' } }] },
        { text: 'I may not.', calls: [{ tool: 'read', args: { path: '/long.txt' } }] },
        { text: 'Read.' },
      ],
      act: [
        { text: 'Running.', calls: [{ tool: 'run', args: { command: 'echo first; sleep 2; echo second' } }] },
        { text: 'Ran.', calls: [{ tool: 'edit', args: { path: '/src/lib.rs', old_string: 'Greets people', new_string: 'Greets all people' } }] },
        { text: 'Edited.' },
      ],
    },
  });
  ({ page, faults } = await openBrowser(server));
});

test('text is Markdown with highlighted code, consecutive calls fold into one line, a blocked call says so, results are collapsed', async () => {
  const chat = await server.newChat();
  await page.goto(chat.url);
  await say(page, 'Go');
  const log = history(page);
  await log.getByText('Read.', { exact: true }).waitFor();
  assert.equal(await log.locator('strong').first().innerText(), 'around');
  await log.locator('.hljs-keyword', { hasText: 'fn' }).waitFor();

  const reads = log.getByRole('article', { name: 'Read 1 file, listed 1 folder, searched 1 time' });
  await reads.waitFor();
  assert.equal(await log.getByText('Greets people by name').count(), 0, 'nothing of a result is drawn before it is opened');
  await reads.getByRole('button').click();
  await log.getByRole('article', { name: 'Tool call: read' }).first().getByRole('button', { expanded: false }).click();
  await log.getByText('Greets people by name').waitFor();

  const blocked = log.getByRole('article', { name: 'Tool call: write' });
  assert.equal(await blocked.getAttribute('data-state'), 'blocked');
  await blocked.getByRole('button').click();
  await blocked.getByText('TOOL_BLOCKED_BY_MODE').waitFor();
});

test('a long result is drawn in part, and whole on demand', async () => {
  const card = history(page).getByRole('article', { name: 'Tool call: read' }).last();
  await card.getByRole('button', { expanded: false }).click();
  const result = card.getByRole('group', { name: 'Result' }).locator('pre');
  await result.waitFor();
  assert.ok((await result.textContent()).length < 5000);
  await card.getByRole('button', { name: 'Show all' }).click();
  await until(async () => (await result.textContent()).includes('line 1000'), 'the whole result');

  // The history that a page begins with has only the first part of it.
  await page.reload();
  await card.getByRole('button', { expanded: false }).click();
  await result.waitFor();
  await card.getByRole('button', { name: 'Show all' }).click();
  await until(async () => (await result.textContent()).includes('line 1000'), 'the whole result, fetched');
});

test('a running command shows its output while it runs, and its state afterwards; an edit shows its diff', async () => {
  const chat = await server.newChat({ agent_mode: 'act' });
  await page.goto(chat.url);
  await say(page, 'Go');
  const log = history(page);
  const run = log.getByRole('article', { name: 'Tool call: run' });
  await run.getByRole('group', { name: 'Output' }).getByText('first').waitFor();
  assert.equal(await run.getAttribute('data-state'), 'running');
  await log.getByText('Edited.').waitFor();
  assert.equal(await run.getAttribute('data-state'), 'done');
  const edit = log.getByRole('article', { name: 'Tool call: edit' });
  await edit.getByRole('button').click();
  await edit.getByText('+//! Greets all people by name.').waitFor();
});

test('a review shows its findings by place and weight', async () => {
  const findings = [{ path: 'src/lib.rs', line: 4, severity: 'major', comment: 'The name is `trimmed` twice.' }, { path: 'src/main.rs', severity: 'minor', comment: 'Say more.' }];
  const other = await startServer({ model: { plan: [{ text: 'Reviewing.', calls: [{ tool: 'submit_review', args: { summary: 'Two things.', findings } }] }, { text: 'Done.' }] } });
  const { page: second } = await openBrowser(other);
  const chat = await other.newChat({ agent_role: 'reviewer' });
  await second.goto(chat.url);
  await say(second, 'Review it');
  const review = history(second).getByRole('article', { name: 'Review', exact: true });
  await review.getByText('src/lib.rs:4').waitFor();
  await review.getByText('The name is').waitFor();
  assert.match(await review.innerText(), /2 findings/i);
});

test('the frontmatter of the chat file is shown (PB-25)', async () => {
  const chat = await server.newChat({ title: 'Front matter' });
  await page.goto(chat.url);
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'Chat file' }).click();
  const yaml = page.getByRole('dialog').locator('pre');
  await until(async () => /^---\nid: .*agent_role: planner.*\n---$/s.test(await yaml.innerText()), 'the frontmatter');
  assert.match(await yaml.innerText(), /mode: plan/);
  // It follows the chat, and leads to the file itself.
  await server.api(chat.path, 'PATCH', { title: 'Another title', agent_mode: 'act' });
  await until(async () => /title: "Another title".*agent_mode: act/s.test(await yaml.innerText()), 'the new frontmatter');
  await page.getByRole('button', { name: 'Show the whole file' }).click();
  await page.getByRole('region', { name: `File /.planwright/chats/${chat.id}.chat` }).getByText('agent_role').waitFor();
});

test('on a phone the composer is one line that names the mode, and grows; the frontmatter is in the menu', async () => {
  const chat = await server.newChat({ title: 'Small' });
  const { page: phone } = await openBrowser(server, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  await phone.goto(chat.url);
  const attach = phone.getByRole('button', { name: 'Attach images or text files' });
  const form = phone.locator('form', { has: composer(phone) });
  await form.getByRole('button', { name: /^Role/ }).getByText('Plan', { exact: true }).waitFor();
  assert.ok((await form.boundingBox()).height <= 50, 'one line');
  assert.equal(await attach.isVisible(), false);
  await composer(phone).tap();
  await attach.waitFor();
  assert.ok((await form.boundingBox()).height > 80, 'a line for the text, and one for the chips');
  await phone.getByRole('heading', { name: 'Small' }).tap();
  assert.ok(await attach.isVisible(), 'a button does not move away under a finger');
  await phone.getByRole('button', { name: 'More' }).click();
  await phone.getByRole('menuitem', { name: 'Chat file' }).click();
  await phone.getByRole('dialog').locator('pre').getByText('title: Small').waitFor();
});

test('none of this broke the page', async () => {
  await composer(page).waitFor();
  assert.deepEqual(faults, []);
});
