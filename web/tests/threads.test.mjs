// Tasks that a Commander hands on, as threads of their own; reviews, whose findings lead to their place.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { violations } from './axe.mjs';
import { composer, history, openBrowser, say, startServer, until, words } from './support.mjs';

let server, page, faults;
const LONG = words(80, 'step');
before(async () => {
  server = await startServer({
    model: {
      act: [
        { text: 'I hand this on.', calls: [{ tool: 'delegate', args: { role: 'planner', task: 'Find out what greets people' } }] },
        { text: 'All is reported.' },
      ],
      plan: [{ text: 'A look at it.', calls: [{ tool: 'submit_review', args: { summary: 'Two things.', findings: [{ path: '/src/lib.rs', line: 3, severity: 'major', comment: 'This is **odd**.' }, { path: '/README.md', severity: 'minor', comment: 'A word is missing.' }] } }] }, { text: 'Reviewed.' }],
      tasks: { 'Find out what greets people': [{ text: LONG, delay_ms: 25, calls: [{ tool: 'read', args: { path: '/src/lib.rs' } }, { tool: 'ls', args: { path: '/' } }] }, { text: 'It is the function greet.' }] },
      repeat: true,
    },
  });
  ({ page, faults } = await openBrowser(server));
});

test('what a delegate says and does stands in a thread of its own, open while it works, with its report after', async () => {
  const chat = await server.newChat({ agent_role: 'commander' });
  await page.goto(chat.url);
  await say(page, 'Who greets?');
  const thread = history(page).getByRole('article', { name: 'Task of Planner' });
  await thread.getByRole('button', { expanded: true, name: /Find out what greets people/ }).waitFor();
  await thread.getByText('step5').waitFor();
  assert.equal(await thread.getByTestId('role-badge').first().innerText(), 'Planner', 'who writes it');
  await history(page).getByText('All is reported.').waitFor();
  const head = thread.getByRole('button', { name: /Find out what greets people/ });
  await until(async () => (await head.getAttribute('aria-expanded')) === 'false', 'the thread to fold');
  await thread.getByText('It is the function greet.').waitFor();
  await head.click();
  await thread.getByText('step80').waitFor();
  await thread.getByText('Read 1 file, listed 1 folder').waitFor();
  assert.deepEqual(await violations(page), []);
  await page.reload();
  await history(page).getByText('All is reported.').waitFor();
  await thread.getByRole('button', { expanded: false, name: /Find out what greets people/ }).waitFor();
  const own = history(page).getByText('I hand this on.');
  assert.equal(await thread.getByText('I hand this on.').count(), 0);
  await own.waitFor();
});

test('a finding of a review opens its file at its line', async () => {
  const chat = await server.newChat({ agent_role: 'reviewer' });
  await page.goto(chat.url);
  await composer(page).waitFor();
  await say(page, 'Review it');
  const review = history(page).getByRole('article', { name: 'Review' });
  await review.getByText('2 findings').waitFor();
  await review.getByText('Major').waitFor();
  await review.getByRole('link', { name: '/src/lib.rs:3' }).click();
  const panel = page.getByRole('complementary');
  await panel.getByText('lib.rs').first().waitFor();
  await panel.locator('[data-line="3"]').waitFor({ state: 'attached' });
  assert.deepEqual(await violations(page), []);
  await review.getByRole('link', { name: '/README.md' }).click();
  await panel.getByText('README.md').first().waitFor();
});

test('none of this broke the page', () => assert.deepEqual(faults, []));
