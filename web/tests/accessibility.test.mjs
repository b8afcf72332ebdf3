// axe finds nothing, in each view, in both languages, on a desktop and on a phone; light and dark.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { assertNothingFound } from './axe.mjs';
import { composer, openBrowser, startServer } from './support.mjs';
import { ANSWERED_BY_TESTS, leave, VIEWS } from './views.mjs';

let server, seeds;
before(async () => {
  const { seed } = await import('./views.mjs');
  ({ server, seeds } = await seed(startServer));
});

const SIZES = { desktop: { width: 1280, height: 860 }, phone: { width: 390, height: 844 } };
for (const [size, viewport] of Object.entries(SIZES)) {
  for (const locale of ['en-US', 'zh-CN']) {
    test(`${size}, ${locale}`, async () => {
      const { page } = await openBrowser(server, { viewport, locale, hasTouch: size === 'phone', reducedMotion: 'reduce' });
      for (const [name, show] of Object.entries(VIEWS)) {
        const isAnswered = ANSWERED_BY_TESTS.includes(name);
        if (isAnswered) await leave(page);
        await show(page, { server, ...seeds, isPhone: size === 'phone' });
        await assertNothingFound(page, name);
        if (isAnswered) await leave(page);
      }
    });
  }
}

test('the whole of a chat can be reached and used by keyboard', async () => {
  const { page } = await openBrowser(server);
  await page.goto(seeds.planned.url);
  await composer(page).waitFor();
  const reached = new Set();
  for (let step = 0; step < 80; step += 1) {
    await page.keyboard.press('Tab');
    reached.add(await page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent?.trim().slice(0, 40)));
  }
  for (const name of ['Message', 'Role: Plan as Planner', 'Plan', 'More', 'New chat', 'Search chats', 'Conversation']) assert.ok(reached.has(name), `${name} is not reached by Tab: ${[...reached].join(', ')}`);
});
