// The views of the web UI, and how to get there: for the accessibility tests and the screenshots.
import { fillLog } from './log.mjs';
import { composer, history, PLAN, until } from './support.mjs';

const FENCE = '```';
const ANSWER = `I read the library and its tests.

- \`greet\` trims the name
- There is **no** farewell yet

| file | lines |
|---|---|
| \`src/lib.rs\` | 24 |

${FENCE}rust
pub fn greet(name: &str) -> String {
    format!("Hello, {name}!") // the only sentence
}
${FENCE}
`;
const QUESTION = { name: 'tone', question: 'Which tone should the farewell have?', schema: { type: 'string', enum: ['friendly', 'formal', 'short'] } };
const MODEL = {
  plan: [
    { text: ANSWER, calls: [{ tool: 'ls', args: { path: '/' } }, { tool: 'read', args: { path: '/src/lib.rs' } }, { tool: 'grep', args: { pattern: 'fn ' } }] },
    { text: 'A small change: one module, one line in the library.', calls: [{ tool: 'write', args: { path: '/src/lib.rs', content: 'x' } }, { tool: 'write_plan', args: PLAN }] },
    { text: 'The plan is ready.' },
    { text: 'One thing first.', calls: [{ tool: 'ask_user', args: { questions: [QUESTION] } }] },
  ],
  act: [
    { text: 'Writing the module.', calls: [{ tool: 'update_step', args: { step_number: 1, status: 'in_progress' } }, { tool: 'write', args: { path: '/src/farewell.rs', content: 'pub fn farewell() {}\n' } }, { tool: 'run', args: { command: 'echo ok' } }] },
    { text: 'Cleaning up.', calls: [{ tool: 'rm', args: { path: '/README.md' } }] },
    { text: 'Done.' },
  ],
};

/** A server whose chats stand at different points of the way. */
export async function seed(startServer) {
  const server = await startServer({ model: MODEL, called: 'anthropic/claude-sonnet-4-5' });
  await fillLog(server, ['Rate limits', 'Faster start']);
  const idle = (chat) => until(async () => ['idle', 'awaiting_answer', 'failed'].includes((await server.api(chat.path)).state) && (await server.api(`${chat.path}/snapshot`)).messages.length > 1, 'the run to end');
  const begin = async (title, then = async () => undefined) => {
    const chat = await server.newChat({ title });
    await chat.say('Add a farewell, please');
    await idle(chat);
    await then(chat);
    return chat;
  };
  const planned = await begin('Say goodbye as well as hello');
  const asked = await begin('Tone of the farewell', async (chat) => {
    await chat.say('Go on');
    await idle(chat);
  });
  const acting = await begin('Farewell module', async (chat) => {
    await server.api(`${chat.path}/execute`, 'POST', {});
    await until(async () => (await server.api(chat.path)).pending_question, 'the approval card');
  });
  const empty = await server.newChat({ title: 'Nothing yet' });
  return { server, seeds: { planned, asked, acting, empty } };
}

/** Goes to an address as a link of the page would, if the app is on the page; loading it anew costs more than looking at it. */
export async function go(page, address) {
  const { origin, pathname, search } = new URL(address);
  const isInside = page.url().startsWith(`${origin}/`) && (await page.locator('#root > *').count()) > 0;
  if (!isInside) return page.goto(address);
  for (let open = 0; open < 5 && (await page.locator('[role=dialog], [role=alertdialog], [role=menu]').count()) > 0; open += 1) await page.keyboard.press('Escape');
  // By way of an empty page, so that nothing of the one before is left.
  for (const path of ['/nowhere', `${pathname}${search}`]) await page.evaluate((to) => history.pushState(null, '', to), path);
}

const openChat = async (page, chat) => {
  await go(page, chat.url);
  await composer(page).waitFor();
  await history(page).getByRole('article').last().waitFor();
};

/** The side panel of a chat, with one of its tabs. */
const openTab = async (page, chat, isPhone, tab) => {
  await openChat(page, chat);
  const tabs = page.getByRole('tablist');
  if (isPhone) {
    await page.getByRole('button', { name: /^(More|更多)$/ }).and(page.locator('[aria-haspopup=menu]')).click();
    await page.getByRole('menuitem', { name: /Side panel|侧边面板/ }).click();
  }
  await tabs.getByRole('tab', { name: tab }).click();
  return page.getByRole('tabpanel');
};

/** Leaves a view in which a test answered for the server, before the server can be reached again: what waits to be sent must not be. */
export async function leave(page) {
  await page.goto('about:blank');
  await page.unrouteAll();
}
/** The views that need a page of their own: what is cached would hide the answer of the test. */
export const ANSWERED_BY_TESTS = ['panel that fails', 'audit that fails', 'server gone', 'broken connection', 'server error'];

/** Each shows its view on a page that is signed in. */
export const VIEWS = {
  home: async (page, { server }) => {
    await go(page, server.url);
    await page.getByRole('main').getByRole('listitem').first().waitFor();
  },
  planned: (page, { planned }) => openChat(page, planned),
  'tool calls opened': async (page, { planned }) => {
    await openChat(page, planned);
    const closed = history(page).getByRole('button', { expanded: false });
    for (let opened = 0; opened < 30 && (await closed.count()) > 0; opened += 1) await closed.first().click({ position: { x: 8, y: 8 } });
  },
  question: (page, { asked }) => openChat(page, asked),
  acting: (page, { acting }) => openChat(page, acting),
  'empty chat': async (page, { empty }) => {
    await go(page, empty.url);
    await page.getByRole('heading', { name: /No messages yet|还没有消息/ }).waitFor();
  },
  'role menu': async (page, { planned }) => {
    await openChat(page, planned);
    await page.getByRole('button', { name: /^(Role|角色)/ }).click();
    await page.getByRole('menuitemradio').first().waitFor();
  },
  'chat menu': async (page, { planned }) => {
    await openChat(page, planned);
    await page.getByRole('button', { name: /^(More|更多)$/ }).click();
    await page.getByRole('menuitem').first().waitFor();
  },
  'leaving act': async (page, { acting }) => {
    await openChat(page, acting);
    await page.getByRole('radio', { name: /Plan|规划/ }).click();
    await page.getByRole('alertdialog').waitFor();
  },
  'denying with a reason': async (page, { acting }) => {
    await openChat(page, acting);
    const field = page.getByRole('textbox', { name: /^(Reason|原因)$/ });
    if ((await field.count()) === 0) await page.getByRole('button', { name: /Deny with a reason|拒绝并说明原因/ }).click();
    await field.waitFor();
  },
  'always allowed': async (page, { acting }) => {
    await openChat(page, acting);
    await page.getByRole('banner').getByRole('button', { name: /^(More|更多)$/ }).click();
    await page.getByRole('menuitem', { name: /Always allowed…|始终允许/ }).click();
    await page.getByRole('dialog').getByText(/Nothing is always allowed|没有始终允许/).waitFor();
  },
  changes: async (page, { acting, isPhone }) => {
    const panel = await openTab(page, acting, isPhone, /Changes|更改/);
    await panel.getByRole('button', { name: /farewell\.rs/ }).click();
    await panel.locator('.diff').waitFor();
  },
  'changes by message': async (page, { acting, isPhone }) => {
    const panel = await openTab(page, acting, isPhone, /Changes|更改/);
    await panel.getByRole('button', { name: /By message|按消息/ }).click();
    await panel.getByRole('button', { name: /^(Take back…|撤回…)$/ }).first().waitFor();
  },
  'changes page': async (page, { acting, isPhone }) => {
    await go(page, `${acting.url}/changes`);
    await page.getByRole('tree').waitFor();
    if (!isPhone) await page.locator('.diff-line').first().waitFor();
  },
  'plan page': async (page, { planned }) => {
    await go(page, `${planned.url}/plan`);
    await page.locator('#step-1').waitFor();
  },
  'taking back a file': async (page, { acting, isPhone }) => {
    await go(page, `${acting.url}/changes${isPhone ? '?file=/src/farewell.rs' : ''}`);
    await page.getByRole('button', { name: /^(Take back file|撤回文件) src\/farewell\.rs$/ }).first().click();
    await page.getByRole('dialog').getByRole('button', { name: /^(Take back file|撤回文件)$/ }).waitFor();
  },
  'comment on a line': async (page, { acting, isPhone }) => {
    await go(page, `${acting.url}/changes${isPhone ? '?file=/src/farewell.rs' : ''}`);
    const field = page.getByRole('textbox', { name: /^(Comment: |评论：)/ });
    if ((await field.count()) === 0) await page.locator('.diff-line').first().getByRole('button').first().click();
    await field.waitFor();
  },
  'empty changes page': async (page, { empty }) => {
    await go(page, `${empty.url}/changes`);
    await page.getByText(/Nothing changed yet|还没有更改/).waitFor();
  },
  'comment on a step': async (page, { planned, isPhone }) => {
    await VIEWS['plan page'](page, { planned });
    const folded = page.locator('#step-1').getByRole('button', { expanded: false, name: /\w/ });
    if (isPhone && (await folded.count()) > 0) await folded.first().click();
    const field = page.getByLabel(/^(Your comment on step 1|你对第 1 步的评论)$/);
    await field.or(page.locator('#step-1').getByRole('toolbar')).first().waitFor();
    if ((await field.count()) === 0) await page.locator('#step-1').getByRole('button', { name: /^(Comment|评论)$/ }).click();
    await field.waitFor();
  },
  'choosing steps': async (page, { planned }) => {
    await VIEWS['plan page'](page, { planned });
    await page.getByRole('button', { name: /^(Choose steps|选择步骤)/ }).click();
    await page.getByRole('dialog').getByRole('combobox').waitFor();
  },
  'requesting changes': async (page, { planned }) => {
    await VIEWS['plan page'](page, { planned });
    await page.getByRole('button', { name: /^(Request changes|Comments|要求修改|评论)\s*\d*$/ }).last().click();
    await page.getByRole('dialog').getByRole('textbox').waitFor();
  },
  'empty plan page': async (page, { empty }) => {
    await go(page, `${empty.url}/plan`);
    await page.getByText(/No plan yet|还没有计划/).first().waitFor();
  },
  'list of chats from the rail': async (page, { planned, isPhone }) => {
    // A phone has no rail: there it is `list of chats`.
    if (isPhone) return;
    await VIEWS['plan page'](page, { planned });
    await page.getByRole('navigation', { name: 'Planwright' }).getByRole('button', { name: /Show the chats|显示对话列表/ }).click();
    await page.getByRole('dialog', { name: /^(Chats|对话)$/ }).waitFor();
  },
  'nothing changed': async (page, { planned, isPhone }) => {
    const panel = await openTab(page, planned, isPhone, /Changes|更改/);
    await panel.getByText(/Nothing changed yet|By file|还没有更改|按文件/).first().waitFor();
  },
  'taking back': async (page, { acting, isPhone }) => {
    const panel = await openTab(page, acting, isPhone, /Changes|更改/);
    await panel.getByRole('button', { name: /By message|按消息/ }).click();
    await panel.getByRole('button', { name: /^(Take back…|撤回…)$/ }).first().click();
    await page.getByRole('dialog', { name: /Take back changes|撤回更改/ }).getByRole('list').first().waitFor();
  },
  files: async (page, { planned, isPhone }) => {
    const panel = await openTab(page, planned, isPhone, /Files|文件/);
    const folder = panel.getByRole('treeitem', { name: 'src' });
    // Folders stay open while the page is.
    if ((await folder.getAttribute('aria-expanded')) !== 'true') await folder.click();
    await panel.getByRole('treeitem', { name: 'lib.rs' }).waitFor();
  },
  file: async (page, { planned, isPhone }) => {
    await VIEWS.files(page, { planned, isPhone });
    await page.getByRole('treeitem', { name: 'lib.rs' }).click();
    await page.locator('.hljs-keyword').last().waitFor();
  },
  context: async (page, { acting, isPhone }) => {
    const panel = await openTab(page, acting, isPhone, /Context|上下文/);
    await panel.getByRole('table').waitFor();
  },
  'panel that fails': async (page, { acting, isPhone }) => {
    await page.route('**/context', (route) => route.fulfill({ status: 422, json: { error: { code: 'VALIDATION_FAILED', message: 'Something is wrong.', retryable: false } } }));
    const panel = await openTab(page, acting, isPhone, /Context|上下文/);
    await panel.getByRole('alert').waitFor();
  },
  'chat file': async (page, { planned }) => {
    await openChat(page, planned);
    await page.getByRole('button', { name: /^(More|更多)$/ }).click();
    await page.getByRole('menuitem', { name: /Chat file|对话文件/ }).click();
    await page.getByRole('dialog').locator('pre').waitFor();
  },
  audit: async (page, { server }) => {
    await go(page, `${server.url}/audit?days=90`);
    await page.getByRole('heading', { name: /^(Log|记录)$/ }).waitFor();
    await page.getByRole('row').nth(20).waitFor();
  },
  'audit as tables': async (page, { server }) => {
    await VIEWS.audit(page, { server });
    for (const button of await page.getByRole('button', { name: /^(Table|表格)$/ }).all()) await button.click();
    await page.locator('details summary').first().click();
  },
  'nothing logged': async (page, { server }) => {
    await go(page, `${server.url}/audit?model=nobody`);
    await page.getByText(/Nothing logged yet|没有记录/).waitFor();
  },
  'audit that fails': async (page, { server }) => {
    await page.route('**/audit/counts*', (route) => route.fulfill({ status: 422, json: { error: { code: 'VALIDATION_FAILED', message: 'Something is wrong.', retryable: false } } }));
    await go(page, `${server.url}/audit`);
    await page.getByRole('alert').filter({ hasText: 'Something is wrong.' }).waitFor();
  },
  timeline: async (page, { acting }) => {
    await go(page, `${acting.url}/timeline`);
    await page.locator('li[data-kind=blocked]').waitFor();
  },
  shortcuts: async (page, { planned }) => {
    await openChat(page, planned);
    await page.keyboard.press('Control+/');
    await page.getByRole('dialog').waitFor();
  },
  'list of chats': async (page, { server, planned, isPhone }) => {
    if (!isPhone) return openChat(page, planned);
    await VIEWS.home(page, { server });
    await page.getByRole('button', { name: /Show the chats|显示对话列表/ }).click();
    await page.getByRole('dialog').waitFor();
  },
  ...Object.fromEntries(
    ['models', 'modes', 'workspaces', 'servers', 'roles', 'appearance', 'keys', 'account'].map((section) => [
      `settings ${section}`,
      async (page, { server }) => {
        await go(page, `${server.url}/settings/${section}`);
        await page.getByRole('main').getByRole('heading', { level: 2 }).first().waitFor();
        await page.waitForFunction(() => !document.querySelector('main [data-loading]'));
      },
    ]),
  ),
  'add a folder': async (page, { server }) => {
    await go(page, `${server.url}/settings/workspaces`);
    await page.getByRole('button', { name: /Add a folder|添加文件夹/ }).click();
    await page.getByRole('dialog').waitFor();
  },
  palette: async (page, { planned }) => {
    await openChat(page, planned);
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').getByRole('option').first().waitFor();
  },
  'slash commands': async (page, { planned }) => {
    await openChat(page, planned);
    await composer(page).pressSequentially('/');
    await page.getByRole('option').first().waitFor();
  },
  'files by @': async (page, { planned }) => {
    await openChat(page, planned);
    await composer(page).fill('');
    await composer(page).pressSequentially('@lib');
    await page.getByRole('option').first().waitFor();
  },
  'find in chat': async (page, { planned }) => {
    await openChat(page, planned);
    await page.keyboard.press('Control+f');
    await page.getByRole('search').getByRole('textbox').fill('farewell');
    await history(page).locator('[data-marked]').waitFor();
  },
  'server gone': async (page, { server }) => {
    await page.route('**/api/v1/me', (route) => route.abort());
    await go(page, server.url);
    await page.getByRole('heading', { name: /Can’t reach Planwright|无法连接 Planwright/ }).waitFor();
  },
  'not found': async (page, { server }) => {
    await go(page, `${server.url}/w/01a1e05d-fd1e-739e-a9aa-66a1aa51494c/c/01a1e05d-fd1e-739e-a9aa-66a1aa51494c`);
    await page.getByRole('heading', { name: /nothing here|找不到此页面/ }).waitFor();
  },
  'broken connection': async (page, { planned }) => {
    await openChat(page, planned);
    await page.route('**/messages', (route) => route.abort());
    await composer(page).fill('Hello?');
    await composer(page).press('Enter');
    await page.getByText(/Waiting for the server|等待服务器/).waitFor();
  },
  'server error': async (page, { planned }) => {
    await page.route('**/snapshot', (route) => route.fulfill({ status: 500, json: { error: { code: 'INTERNAL', message: 'Something broke.', retryable: true } } }));
    await page.goto(planned.url);
    await page.getByRole('heading', { name: /Can’t load|无法加载/ }).waitFor();
  },
};
