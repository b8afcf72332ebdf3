// Pages of the seeded team, and how to get there: for the pictures and the screenshots.
import { PEOPLE } from './seed.mjs';
import { composer, history } from './support.mjs';
import { VIEWS } from './views.mjs';

export const inbox = async (page, { server }) => {
  await page.goto(server.url);
  await page.getByRole('region', { name: /^(Recently done|最近完成)$/ }).waitFor();
};
export const chat = (key) => async (page, { chats }) => {
  await page.goto(chats[key].url);
  await history(page).getByRole('article').last().waitFor();
  // It comes with the settings; a phone has no room for it.
  await page.locator('button[aria-label^="Context: "], button[aria-label^="上下文已用"]').waitFor({ state: 'attached' });
};
export const planPanel = async (page, place) => {
  await chat('running')(page, place);
  await page.getByRole('tabpanel').getByText('Move the query builder').waitFor();
};
export const changes = async (page, { chats }) => {
  await page.goto(`${chats.review.url}/changes`);
  await page.getByRole('tree').waitFor();
  // On a phone a file is opened from the list.
  if (page.viewportSize().width > 700) await page.locator('.diff-line').first().waitFor();
};
export const approval = async (page, place) => {
  await chat('delete')(page, place);
  await page.getByRole('region', { name: /^(Question of the agent|智能体的提问)$/ }).waitFor();
};

const panel = async (page, place, key, name) => {
  await chat(key)(page, place);
  // It is open by itself where there is a plan.
  if ((await page.getByRole('complementary').count()) === 0) await page.keyboard.press('Control+j');
  await page.getByRole('tablist').getByRole('tab', { name }).click();
  return page.getByRole('tabpanel');
};
const after = (show, then) => async (page, place) => {
  await show(page, place);
  await then(page);
};

/** Every other page that has a picture in the documentation. */
export const TEAM_VIEWS = {
  ...Object.fromEntries(['audit', 'list of chats', 'settings modes', 'settings workspaces', 'settings roles', 'server gone'].map((name) => [name, VIEWS[name]])),
  'tool calls opened': after(chat('review'), async (page) => {
    const closed = history(page).getByRole('button', { expanded: false });
    for (let opened = 0; opened < 4 && (await closed.count()) > 0; opened += 1) await closed.first().click({ position: { x: 8, y: 8 } });
  }),
  'role menu': after(chat('plan'), async (page) => {
    await page.getByRole('button', { name: /^(Role|角色)/ }).click();
    await page.getByRole('menuitemradio').first().waitFor();
  }),
  'leaving act': after(chat('running'), async (page) => {
    await page.getByRole('radio', { name: /Plan|规划/ }).click();
    await page.getByRole('alertdialog').waitFor();
  }),
  'taking back': async (page, place) => {
    const shown = await panel(page, place, 'review', /Changes|更改/);
    await shown.getByRole('button', { name: /By message|按消息/ }).click();
    await shown.getByRole('button', { name: /^(Take back…|撤回…)$/ }).first().click();
    await page.getByRole('dialog').getByRole('list').first().waitFor();
  },
  file: async (page, place) => {
    const shown = await panel(page, place, 'plan', /Files|文件/);
    for (const name of ['src', 'dedupe', 'cache.rs']) await shown.getByRole('treeitem', { name, exact: true }).click();
    await page.locator('.hljs-keyword').first().waitFor();
  },
  context: async (page, place) => {
    const shown = await panel(page, place, 'plan', /Context|上下文/);
    await shown.getByRole('table').waitFor();
  },
  timeline: async (page, { chats }) => {
    await page.goto(`${chats.plan.url}/timeline`);
    await page.locator('li[data-kind=blocked]').waitFor();
  },
  palette: after(chat('plan'), async (page) => {
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').getByRole('option').first().waitFor();
  }),
  'find in chat': after(chat('plan'), async (page) => {
    await page.keyboard.press('Control+f');
    await page.getByRole('search').getByRole('textbox').fill('order');
    await history(page).locator('[data-marked]').waitFor();
  }),
  // Last, because from here on the list has it.
  'empty chat': async (page, { server, workspaces, people }) => {
    const { id, workspace_id } = await people[PEOPLE[0]](`/workspaces/${workspaces['orders-api']}/chats`, 'POST', {});
    await page.goto(`${server.url}/w/${workspace_id}/c/${id}`);
    await composer(page).waitFor();
  },
};
