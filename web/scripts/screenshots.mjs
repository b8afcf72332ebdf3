// Pictures of each view, into docs/screenshots (or the folder given), from the real binary with scripted models.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openAs, PEOPLE, seedTeam } from '../tests/seed.mjs';
import { calm } from '../tests/stage.mjs';
import { newContext, openBrowser, startServer } from '../tests/support.mjs';
import { approval, changes, chat, inbox } from '../tests/team-pages.mjs';
import { leave, seed, VIEWS } from '../tests/views.mjs';

const folder = process.env.SCREENSHOTS ?? new URL('../../docs/screenshots', import.meta.url).pathname;
const DESKTOP = { width: 1440, height: 900 };
/** What matters most is shown in every look, with the work of a whole team. */
const OF_TEAM = { home: inbox, planned: chat('plan'), question: chat('question'), acting: approval, changes };
const KEPT = ['audit', 'empty chat', 'tool calls opened', 'role menu', 'leaving act', 'taking back', 'file', 'context', 'timeline', 'palette', 'find in chat', 'settings modes', 'settings workspaces', 'settings roles', 'server gone'];
const LOOKS = [
  { name: 'light', views: KEPT, viewport: DESKTOP, colorScheme: 'light', locale: 'en-US' },
  { name: 'dark-zh', views: ['audit'], viewport: DESKTOP, colorScheme: 'dark', locale: 'zh-CN' },
  { name: 'phone', views: ['audit', 'list of chats'], viewport: { width: 390, height: 844 }, colorScheme: 'light', locale: 'en-US', hasTouch: true },
];
const store = async (page, name, look) => {
  await page.waitForFunction(() => !document.querySelector('[data-loading]'));
  await calm(page);
  await page.screenshot({ path: join(folder, `${name.replaceAll(' ', '-')}.${look}.png`) });
};

test('pictures of each view', async () => {
  const { server, seeds } = await seed(startServer);
  const team = await seedTeam(startServer);
  mkdirSync(folder, { recursive: true });
  for (const { name: look, views, ...options } of LOOKS) {
    const { page } = await openBrowser(server, { ...options, reducedMotion: 'reduce' });
    for (const name of views) {
      await leave(page);
      await VIEWS[name](page, { server, ...seeds, isPhone: look === 'phone' });
      if (look !== 'phone' && name !== 'server gone') await page.locator('nav section a').first().waitFor();
      await store(page, name, look);
    }
    const { page: member } = await openAs(newContext, team.server, PEOPLE[0], options);
    for (const [name, show] of Object.entries(OF_TEAM)) {
      await show(member, team);
      await store(member, name, look);
    }
  }
});
