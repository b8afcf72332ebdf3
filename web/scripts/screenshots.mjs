// Pictures of each view, into docs/screenshots (or the folder given), from the real binary with scripted models.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fillLogOf } from '../tests/log.mjs';
import { NOW, openAs, PEOPLE, seedTeam } from '../tests/seed.mjs';
import { calm } from '../tests/stage.mjs';
import { newContext, startServer } from '../tests/support.mjs';
import { approval, changes, chat, inbox, planPanel, TEAM_VIEWS } from '../tests/team-pages.mjs';

const folder = process.env.SCREENSHOTS ?? new URL('../../docs/screenshots', import.meta.url).pathname;
const DESKTOP = { width: 1440, height: 900 };
/** What matters most is shown in every look. */
const EVERYWHERE = { home: inbox, planned: chat('plan'), question: chat('question'), acting: approval, changes };
const VIEWS = { ...TEAM_VIEWS, 'plan panel': planPanel };
const LOOKS = [
  { name: 'light', views: Object.keys(VIEWS).filter((name) => name !== 'list of chats'), viewport: DESKTOP, colorScheme: 'light', locale: 'en-US' },
  { name: 'dark-zh', views: ['audit'], viewport: DESKTOP, colorScheme: 'dark', locale: 'zh-CN' },
  { name: 'phone', views: ['audit', 'list of chats'], viewport: { width: 390, height: 844 }, colorScheme: 'light', locale: 'en-US', hasTouch: true },
];
const store = async (page, name, look) => {
  await page.waitForFunction(() => !document.querySelector('[data-loading]'));
  await page.evaluate(() => document.fonts.ready);
  await calm(page);
  await page.screenshot({ path: join(folder, `${name.replaceAll(' ', '-')}.${look}.png`), animations: 'disabled' });
};

test('pictures of each view', async () => {
  const team = await seedTeam(startServer);
  await fillLogOf(team.server, team.others.map(({ id }) => id), NOW);
  mkdirSync(folder, { recursive: true });
  for (const { name: look, views, ...options } of LOOKS) {
    const { page } = await openAs(newContext, team.server, PEOPLE[0], options);
    for (const [name, show] of [...Object.entries(EVERYWHERE), ...views.map((name) => [name, VIEWS[name]])]) {
      await page.goto('about:blank');
      await page.unrouteAll();
      await show(page, { ...team, isPhone: look === 'phone' });
      await store(page, name, look);
    }
  }
});
