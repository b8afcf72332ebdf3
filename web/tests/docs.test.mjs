// The API's description as a page, under the server's own policy.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { newPage, startServer } from './support.mjs';

let server;
before(async () => { server = await startServer({ model: { turns: [{ text: 'Hello' }] } }); });

test('the description of the API is a page that lists every route and type, in light and in dark', async () => {
  const page = await newPage();
  const faults = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
  await page.goto(`${server.url}/docs#type-Envelope`);
  await page.locator('#type-Envelope:target').waitFor();
  const description = await (await fetch(`${server.url}/openapi.json`)).json();
  const routes = Object.values(description.paths).flatMap((methods) => Object.values(methods));
  assert.equal(await page.locator('#routes section').count(), routes.length);
  assert.equal(await page.locator('#types section').count(), Object.keys(description.components.schemas).length);

  await page.getByLabel('Find').fill('revert');
  await page.locator('#changes_revert').waitFor();
  await page.locator('#chats_list').waitFor({ state: 'hidden' });
  await page.locator('#changes_revert summary').first().click();
  await page.locator('#changes_revert pre').filter({ hasText: '"message_id"' }).first().waitFor();

  const background = async (colorScheme) => {
    await page.emulateMedia({ colorScheme });
    return page.evaluate(() => getComputedStyle(document.body).color);
  };
  assert.notEqual(await background('light'), await background('dark'));
  assert.deepEqual(faults, []);
});
