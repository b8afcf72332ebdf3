// Whatever models, files and people write, it stays text.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { composer, history, openBrowser, say, startServer } from './support.mjs';

const PAYLOADS = [
  '<script>window.hit = 1</script>',
  '<img src=x onerror="window.hit = 1">',
  '<svg onload="window.hit = 1">',
  '[click](javascript:window.hit=1)',
  '<a href="javascript:window.hit=1">x</a>',
  '<iframe srcdoc="<script>parent.hit = 1</script>"></iframe>',
  '"><img src=x onerror=window.hit=1>',
  '```html\n<img src=x onerror=window.hit=1>\n```',
  '<style>body { display: none }</style>',
  '![x](x" onerror="window.hit=1)',
  '{{constructor.constructor("window.hit=1")()}}',
];
const ALL = PAYLOADS.join('\n\n');
const FILE = '<img src=x onerror=window.hit=1>.txt';
let server, page, faults;
before(async () => {
  server = await startServer({
    files: { [FILE]: ALL },
    model: {
      plan: [
        { text: ALL, calls: [{ tool: 'read', args: { path: `/${FILE}` } }, { tool: 'ls', args: { path: '/' } }, { tool: ALL.slice(0, 40), args: {} }] },
        { text: 'A plan.', calls: [{ tool: 'write_plan', args: { goal: PAYLOADS[1], steps: [{ step_number: 1, action: ALL, reason: PAYLOADS[2], files: [FILE], tools_needed: [PAYLOADS[0]] }], risks: [PAYLOADS[3]], prerequisites: [PAYLOADS[1]] } }] },
        { text: 'A question.', calls: [{ tool: 'ask_user', args: { questions: [{ name: 'x', question: ALL, schema: { type: 'boolean' }, buttons: [{ label: PAYLOADS[1], value: true }] }] } }] },
      ],
      act: [{ text: 'Running.', calls: [{ tool: 'run', args: { command: `cat "${FILE}"` } }] }, { text: 'Ran.' }],
    },
  });
  ({ page, faults } = await openBrowser(server));
});

const unhurt = async () => {
  assert.equal(await page.evaluate(() => window.hit), undefined, 'a script ran');
  assert.equal(await page.locator('[role=log] :is(script, img, iframe, style), [role=log] svg[onload], a[href^="javascript:" i]').count(), 0);
  assert.deepEqual(faults, []);
};
const openAll = async () => {
  const closed = history(page).getByRole('button', { expanded: false });
  for (let opened = 0; opened < 30 && (await closed.count()) > 0; opened += 1) await closed.first().click({ position: { x: 8, y: 8 } });
};

test('payloads in a message, an answer, a file name, a tool and its result, a plan and a question run nowhere', async () => {
  const chat = await server.newChat({ title: PAYLOADS[1] });
  await page.goto(chat.url);
  await say(page, ALL);
  await history(page).getByText('A question.').waitFor();
  await history(page).getByText("window.hit = 1</script>").first().waitFor();
  await openAll();
  await unhurt();
  await page.goto(server.url);
  await page.getByRole('main').getByText(PAYLOADS[1]).waitFor();
  await unhurt();
});

test('payloads in the output of a command run nowhere', async () => {
  const chat = await server.newChat({ agent_mode: 'act' });
  await page.goto(chat.url);
  await say(page, 'Go');
  await history(page).getByText('Ran.').waitFor();
  await openAll();
  await history(page).getByText('window.hit = 1').first().waitFor();
  await unhurt();
});

test('the page may load nothing from elsewhere, run nothing inline and make no HTML of text', async () => {
  await page.goto(server.url);
  await page.getByRole('heading', { name: 'Inbox' }).waitFor();
  const policy = (await (await fetch(server.url)).headers.get('content-security-policy')) ?? '';
  for (const rule of ["default-src 'none'", "script-src 'self'", "require-trusted-types-for 'script'", "frame-ancestors 'none'"]) assert.ok(policy.includes(rule), rule);
  assert.ok(!/unsafe|\*/.test(policy));
  const refused = await page.evaluate(() => {
    try {
      document.body.innerHTML = '<p>made of text</p>';
      return 'set';
    } catch (error) {
      return error.name;
    }
  });
  assert.equal(refused, 'TypeError');
});

test('a page of another origin can neither read nor call the server', async () => {
  const refused = await fetch(`${server.url}/api/v1/me`, { headers: { origin: 'http://evil.example' } });
  assert.equal(refused.status, 403);
  await page.goto((await server.newChat()).url);
  await composer(page).waitFor();
});
