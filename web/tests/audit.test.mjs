// The audit page over ninety days of a team's work, and the timeline of one chat.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { fillLog, MODELS } from './log.mjs';
import { picture } from './stage.mjs';
import { openBrowser, PLAN, startServer, until } from './support.mjs';

let server, page, faults, past;
before(async () => {
  server = await startServer({ model: { plan: [{ text: 'Trying.', calls: [{ tool: 'write', args: { path: '/src/lib.rs', content: 'x' } }, { tool: 'read', args: { path: '/src/lib.rs' } }] }, { text: 'A plan, then.', calls: [{ tool: 'write_plan', args: PLAN }] }, { text: 'Ready.' }], act: [{ text: 'Built.' }], repeat: true } });
  past = await fillLog(server);
  ({ page, faults } = await openBrowser(server, { viewport: { width: 1440, height: 1000 }, timezoneId: 'UTC' }));
});
const audit = async (query = '?days=90') => {
  await page.goto(`${server.url}/audit${query}`);
  await page.getByRole('heading', { name: 'Log' }).waitFor();
};
const chart = (name) => page.getByRole('region', { name, exact: true });
const tile = (name) => page.getByRole('main').locator('dl > div').filter({ hasText: name }).locator('dd').first().innerText();
const total = (rows, which) => rows.filter(which).length;
const number = (text) => Number(text.replaceAll(',', ''));

test('ninety days of violations, questions and switches are charts that agree with the log', async () => {
  await page.getByRole('link', { name: 'Audit' }).click();
  await page.waitForURL(/\/audit$/);
  await page.getByRole('button', { name: '90 days' }).click();
  const blocked = total(past.audit, (row) => row.kind === 'tool_blocked');
  await until(async () => number(await tile('Violations')) === blocked, 'all violations');
  assert.equal(number(await tile('Questions')), total(past.audit, (row) => row.kind === 'question_asked'));
  assert.equal(number(await tile('Mode switches')), total(past.audit, (row) => row.kind === 'mode_entered'));

  const violations = chart('Violations');
  assert.ok((await violations.locator('rect[data-series=write]').count()) > 20, 'bars over many days');
  assert.match(await violations.getByRole('img').getAttribute('aria-label'), new RegExp(`${blocked.toLocaleString('en')} in all`));
  const legend = async (region) => Object.fromEntries((await region.getByRole('listitem').allInnerTexts()).map((text) => text.trim().split(/\s+(?=[\d,]+$)/)).map(([name, value]) => [name, number(value)]));
  for (const [tool, count] of Object.entries(await legend(violations))) assert.equal(count, total(past.audit, (row) => row.kind === 'tool_blocked' && row.details.tool === tool), tool);
  await picture(page, 'audit');
  await violations.getByRole('button', { name: 'By model' }).click();
  assert.deepEqual(Object.keys(await legend(violations)).sort(), MODELS.toSorted());
  assert.deepEqual(await legend(chart('Questions by severity')), Object.fromEntries(['critical', 'major', 'minor'].map((severity) => [severity, total(past.audit, (row) => row.details.severity === severity)])));
  const causes = { 'by you': 'user', 'by approving a plan': 'approval', 'by your message': 'intent', 'by the default mode': 'auto' };
  assert.deepEqual(await legend(chart('Mode switches by cause')), Object.fromEntries(Object.entries(causes).map(([words, by]) => [words, total(past.audit, (row) => row.details.by === by)])));
  assert.deepEqual(faults, []);
});

test('each chart is a table as well, and tells the numbers of a day under the pointer', async () => {
  const questions = chart('Questions by severity');
  await questions.getByRole('button', { name: 'Table' }).click();
  const cells = (await questions.getByRole('cell').allInnerTexts()).map(number);
  assert.equal(cells.reduce((sum, value) => sum + value, 0), total(past.audit, (row) => row.kind === 'question_asked'));
  await picture(page, 'audit-table');
  await questions.getByRole('button', { name: 'Chart' }).click();
  const bars = chart('Violations').getByRole('img');
  const { width } = await bars.boundingBox();
  await bars.hover({ position: { x: width * 0.6, y: 80 } });
  await chart('Violations').getByText(/^\w{3} \d+, \d{4}$/).waitFor();
});

test('adherence is shown for each model and role', async () => {
  const table = chart('Adherence by model and role');
  const counted = await server.api('/audit/adherence');
  await until(async () => (await table.getByRole('row').count()) === counted.length + 1, 'a row for each model and role');
  const wild = counted.find((row) => row.model === MODELS[1] && row.agent_role === 'planner');
  const row = table.getByRole('row').filter({ hasText: MODELS[1] }).filter({ hasText: 'Planner' });
  assert.match(await row.innerText(), new RegExp(`${(wild.adherence * 100).toFixed(1).replace(/\.0$/, '')}%`));
});

test('the log is filtered by chat, model, role and kind, by the address too, and read page by page', async () => {
  await audit();
  const rows = page.getByRole('region', { name: 'Log', exact: true }).getByRole('row');
  await until(async () => (await rows.count()) === 51, 'a page');
  const first = await rows.nth(1).innerText();
  await page.getByRole('button', { name: 'Older' }).click();
  await page.getByText('Page 2').waitFor();
  await until(async () => (await rows.nth(1).innerText()) !== first, 'the second page');
  await page.getByRole('button', { name: 'Newer' }).click();
  await until(async () => (await rows.nth(1).innerText()) === first, 'the first page');

  await page.getByRole('combobox', { name: 'Event' }).selectOption('question_asked');
  await page.waitForURL(/kind=question_asked/);
  await until(async () => (await rows.count()) > 1 && (await rows.allInnerTexts()).slice(1).every((text) => text.includes('Question asked')), 'questions alone');
  await page.getByRole('combobox', { name: 'Model' }).selectOption(MODELS[1]);
  await page.getByRole('combobox', { name: 'Role' }).selectOption('actor');
  await page.getByRole('combobox', { name: 'Chat' }).selectOption({ label: '登录页面' });
  const fits = (row) => row.chat === past.chats[3] && row.model === MODELS[1] && row.role === 'actor' && row.kind === 'question_asked';
  await until(async () => (await rows.count()) === Math.min(50, total(past.audit, fits)) + 1, 'what fits');
  await page.reload();
  await until(async () => (await rows.count()) === Math.min(50, total(past.audit, fits)) + 1, 'the same by the address');
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await until(async () => (await rows.count()) === 51, 'all again');
});

test('what fits nothing says so, and a failure offers another try', async () => {
  await page.goto(`${server.url}/audit?model=nobody`);
  await page.getByText('Nothing logged yet').waitFor();
  await page.getByText('No events match these filters.', { exact: false }).waitFor();
  await page.route('**/audit/counts*', (route) => route.fulfill({ status: 422, json: { error: { code: 'VALIDATION_FAILED', message: 'Not like this.', retryable: false } } }));
  await page.goto(`${server.url}/audit?days=90`);
  await page.getByRole('alert').getByText('Not like this.').waitFor();
  await page.unrouteAll();
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('heading', { name: 'Log' }).waitFor();
});

test('a server that is gone while the page is asked for is told, and the page comes when it is back', async () => {
  const { page: other, context } = await openBrowser(server);
  await other.route('**/assets/AuditPage*', (route) => route.abort());
  await other.getByRole('link', { name: 'Audit' }).click();
  await other.getByRole('alert').filter({ hasText: 'Can’t load this' }).waitFor();
  await other.unrouteAll();
  await other.getByRole('button', { name: 'Try again' }).click();
  await other.getByRole('heading', { level: 1, name: 'Audit' }).waitFor();

  // The same for numbers that have not been asked for yet.
  await context.setOffline(true);
  await other.getByRole('button', { name: '7 days' }).click();
  await other.getByRole('alert').filter({ hasText: 'Can’t reach the server' }).waitFor();
  await context.setOffline(false);
  await other.getByRole('button', { name: 'Try again' }).last().click();
  await other.getByRole('heading', { name: 'Log' }).waitFor();
  await context.close();
});

test('a page that the server no longer has because it was updated says so, and is there after a reload', async () => {
  const { page: other, context } = await openBrowser(server);
  await other.route('**/assets/AuditPage*', (route) => route.abort());
  await other.route((url) => url.pathname === '/', (route) => route.fulfill({ contentType: 'text/html', body: '<script type="module" src="/assets/newer.js"></script>' }));
  await other.getByRole('link', { name: 'Audit' }).click();
  await other.getByRole('alert').getByText('Planwright was updated').waitFor();
  await other.unrouteAll();
  await other.getByRole('button', { name: 'Reload' }).click();
  await other.getByRole('heading', { level: 1, name: 'Audit' }).waitFor();
  await context.close();
});

test('dark, Chinese, and on a phone', async () => {
  const looks = [['dark', { colorScheme: 'dark' }], ['zh', { locale: 'zh-CN' }], ['phone', { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }]];
  for (const [name, options] of looks) {
    const { page: other, context, faults: wrong } = await openBrowser(server, { viewport: { width: 1280, height: 900 }, timezoneId: 'UTC', ...options });
    await other.goto(`${server.url}/audit?days=90`);
    await other.getByRole('heading', { name: /^(Log|记录)$/ }).waitFor();
    assert.ok(await other.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name}: nothing is wider than the page`);
    assert.ok(await other.evaluate(() => { const main = document.querySelector('main'); return main.scrollWidth <= main.clientWidth; }), `${name}: nothing is wider than the content`);
    await picture(other, `audit-${name}`);
    await other.evaluate(() => document.querySelector('main').scrollBy(0, 900));
    await picture(other, `audit-${name}-below`);
    assert.deepEqual(wrong, []);
    await context.close();
  }
});

test('the timeline of a chat has its words, plan, violation and switch in their order, and can be narrowed', async () => {
  const chat = await server.newChat({ title: 'A life' });
  await chat.say('Say goodbye');
  await until(async () => (await server.api(chat.path)).state === 'idle' && (await server.api(`${chat.path}/messages?limit=1`))[0].content === 'Ready.', 'the plan');
  await server.api(`${chat.path}/execute`, 'POST', {});
  await until(async () => (await server.api(`${chat.path}/messages?limit=1`))[0].content === 'Built.', 'the end');
  await page.goto(chat.url);
  await page.getByRole('link', { name: 'Timeline' }).click();
  await page.waitForURL(/\/timeline$/);
  const kinds = () => page.getByRole('main').locator('li[data-kind]').evaluateAll((rows) => rows.map((row) => row.dataset.kind));
  await until(async () => (await kinds()).includes('blocked'), 'the violation');
  const seen = await kinds();
  const order = ['began', 'said', 'blocked', 'planned', 'switched'].map((kind) => seen.indexOf(kind));
  assert.deepEqual(order, order.toSorted((a, b) => a - b), seen.join());
  assert.ok(order[0] === 0 && !order.includes(-1), seen.join());
  await page.getByText('to Actor · by approving a plan').waitFor();
  await page.getByText('TOOL_BLOCKED_BY_MODE').waitFor();
  await picture(page, 'timeline');
  await page.getByRole('button', { name: /^Messages/ }).click();
  await until(async () => !(await kinds()).includes('said'), 'no words');
  await page.getByRole('link', { name: 'Show in chat' }).first().click();
  await page.getByRole('textbox', { name: 'Message' }).waitFor();
  assert.deepEqual(faults, []);
});
