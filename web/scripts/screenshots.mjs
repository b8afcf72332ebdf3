// Pictures of each view, into docs/screenshots (or the folder given), from the real binary with a scripted model.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { calm } from '../tests/stage.mjs';
import { openBrowser, startServer } from '../tests/support.mjs';
import { leave, seed, VIEWS } from '../tests/views.mjs';

const folder = process.env.SCREENSHOTS ?? new URL('../../docs/screenshots', import.meta.url).pathname;
const DESKTOP = { width: 1440, height: 900 };
/** Every view is shown light and in English; the other looks are of those where they matter most. */
const MAIN = ['home', 'planned', 'question', 'acting', 'changes', 'audit'];
const KEPT = [...MAIN, 'empty chat', 'tool calls opened', 'role menu', 'leaving act', 'taking back', 'file', 'context', 'timeline', 'palette', 'find in chat', 'settings modes', 'settings workspaces', 'settings roles', 'server gone'];
const LOOKS = [
  { name: 'light', views: KEPT, viewport: DESKTOP, colorScheme: 'light', locale: 'en-US' },
  { name: 'dark-zh', views: MAIN, viewport: DESKTOP, colorScheme: 'dark', locale: 'zh-CN' },
  { name: 'phone', views: [...MAIN, 'list of chats'], viewport: { width: 390, height: 844 }, colorScheme: 'light', locale: 'en-US', hasTouch: true },
];

test('pictures of each view', async () => {
  const { server, seeds } = await seed(startServer);
  mkdirSync(folder, { recursive: true });
  for (const { name: look, views, ...options } of LOOKS) {
    const { page } = await openBrowser(server, { ...options, reducedMotion: 'reduce' });
    for (const name of views) {
      await leave(page);
      await VIEWS[name](page, { server, ...seeds, isPhone: look === 'phone' });
      if (look !== 'phone' && name !== 'server gone') await page.locator('nav section a').first().waitFor();
      await calm(page);
      await page.screenshot({ path: join(folder, `${name.replaceAll(' ', '-')}.${look}.png`) });
    }
  }
});
