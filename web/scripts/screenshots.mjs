// Pictures of each view, into docs/screenshots (or the folder given), from the real binary with a scripted model.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openBrowser, startServer } from '../tests/support.mjs';
import { leave, seed, VIEWS } from '../tests/views.mjs';

const folder = process.env.SCREENSHOTS ?? new URL('../../docs/screenshots', import.meta.url).pathname;
const LOOKS = [
  { name: 'light', viewport: { width: 1440, height: 900 }, colorScheme: 'light', locale: 'en-US' },
  { name: 'dark-zh', viewport: { width: 1440, height: 900 }, colorScheme: 'dark', locale: 'zh-CN' },
  { name: 'phone', viewport: { width: 390, height: 844 }, colorScheme: 'light', locale: 'en-US', hasTouch: true },
];
const KEPT = new Set(['home', 'planned', 'question', 'acting', 'role menu', 'leaving act', 'list of chats', 'tool calls opened', 'empty chat', 'changes', 'taking back', 'file', 'context', 'audit', 'timeline']);

test('pictures of each view', async () => {
  const { server, seeds } = await seed(startServer);
  mkdirSync(folder, { recursive: true });
  for (const { name: look, ...options } of LOOKS) {
    const { page } = await openBrowser(server, { ...options, reducedMotion: 'reduce' });
    for (const [name, show] of Object.entries(VIEWS)) {
      if (!KEPT.has(name)) continue;
      await leave(page);
      await show(page, { server, ...seeds, isPhone: look === 'phone' });
      await page.evaluate(() => document.fonts.ready);
      await page.screenshot({ path: join(folder, `${name.replaceAll(' ', '-')}.${look}.png`) });
    }
  }
});
