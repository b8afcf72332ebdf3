// The page without its server, and the bytes that each page loads.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openBrowser, startServer } from './support.mjs';

test('a reload while the server is away shows the page, which says so and goes on when the server is back', async () => {
  const server = await startServer({ model: 'demo/demo' });
  const { page, faults } = await openBrowser(server, { serviceWorkers: 'allow' });
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  const chat = await server.newChat({ title: 'Kept' });
  await server.stop();

  const answer = await page.goto(chat.url);
  await page.getByRole('heading', { name: 'Can’t reach Planwright' }).waitFor();
  await page.getByText('Retrying every 2 s. If you stopped it, run planwright serve.').waitFor();
  assert.equal(await page.getByText('planwright serve', { exact: true }).evaluate((node) => node.tagName), 'CODE');
  assert.match(answer.headers()['content-security-policy'], /require-trusted-types-for 'script'/, 'the copy has the policy of the page');

  await server.start();
  await page.getByRole('heading', { name: 'Kept' }).waitFor();
  assert.deepEqual(faults.filter((text) => !text.includes('ERR_')), []);
});

test('an old copy of the page goes when the server has another', async () => {
  const server = await startServer({ model: 'demo/demo' });
  const { page } = await openBrowser(server, { serviceWorkers: 'allow' });
  await page.evaluate(async () => {
    await navigator.serviceWorker.ready;
    await caches.open('planwright-shell-of-an-older-version');
    const registration = await navigator.serviceWorker.getRegistration();
    await registration.unregister();
  });
  await page.reload();
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  await page.waitForFunction(async () => (await caches.keys()).length === 1 && !(await caches.has('planwright-shell-of-an-older-version')));
});

test('home loads neither code nor words of a chat, and one language', async () => {
  const server = await startServer({ model: 'demo/demo' });
  for (const [locale, other] of [['en-US', 'zh'], ['zh-CN', 'en']]) {
    const { page } = await openBrowser(server, { locale });
    const files = await page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name.split('/').at(-1)));
    const words = files.filter((name) => name.startsWith('words-'));
    assert.ok(words.length > 0 && !words.some((name) => name.startsWith(`words-${other}-`) || name.includes('chatPages')), `${words}`);
    assert.ok(!files.some((name) => /^(ChatRoute|PendingQuestion|highlight|PlanPanel|Diagram)/.test(name)), `${files}`);
  }
});
