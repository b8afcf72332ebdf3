// Reasoning, paths, pictures, terminal colours, diagrams, Markdown out of the page (HM-5, HM-6, HM-9), and hostile versions of each.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { violations } from './axe.mjs';
import { history, openBrowser, PLAN, say, startServer, until } from './support.mjs';

const MERMAID = '```mermaid\nflowchart LR\n  A[Request] --> B{Valid?}\n  B -->|yes| C[Store]\n  B -->|no| D[Refuse]\n```';
const SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="120" height="60"><script>parent.hit = 1; top.hit = 1</script><rect width="120" height="60" fill="#2f8291" onload="top.hit = 1"/></svg>';
const EVIL_DIAGRAM = '```mermaid\ngraph TD\n  A["<img src=x onerror=window.hit=1>"] --> B["</text><script>window.hit=1</script>"]\n  click A "javascript:window.hit=1"\n  style A fill:url(https://evil.example/x)\n```';
const OUTPUT = String.raw`printf '\033[31mred alert\033[0m and \033[1;32mgreen\033[0m\n\033]0;owned\007  --> src/lib.rs:3:5\n\033[2J<img src=x onerror=window.hit=1>\nprogress 1\rprogress 2\n'; sleep 600`;
const PIXEL = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==', 'base64');
const LONG_WORD = 'x'.repeat(5000);
let server, page, faults, context;
before(async () => {
  server = await startServer({
    files: { 'docs/shop.svg': SVG, 'docs/photo.png': 'not really a picture', 'docs/pixel.png': PIXEL },
    model: {
      plan: [
        { reasoning: 'First I weigh the **options**.\n<script>window.hit = 1</script>', text: 'The greeting is in `src/lib.rs:3`, see also src/main.rs and [the manual](README.md#L2). Not and/or, not https://example.com/a.html.\n\n![The shop](docs/shop.svg)\n\n![photo](docs/photo.png)\n\n![A pixel](docs/pixel.png)\n\nDone looking.' },
        { reasoning: 'Only a call.', calls: [{ tool: 'read', args: { path: '/src/lib.rs' } }] },
        { text: `${MERMAID}\n\n${EVIL_DIAGRAM}\n\n\`\`\`mermaid\npie\n  "a": 1\n\`\`\`\n\n\`\`\`kotlin\nfun main() = println("hi")\n\`\`\`\n\nDrawn.` },
        { text: `${LONG_WORD}/a.rs and [x](${LONG_WORD}.md) ![y](../../../../etc/passwd.png) \`${LONG_WORD}.rs:1\` ![z](data:image/svg+xml,<svg/onload=window.hit=1>) [w](javascript:window.hit=1//a.js)\n\nEnd of the hostile text.` },
        { text: 'Here is the plan.', calls: [{ tool: 'write_plan', args: PLAN }] },
        { text: 'The plan is there.' },
      ],
      act: [{ text: 'Running.', calls: [{ tool: 'run', args: { command: OUTPUT } }] }, { text: 'Once more.', calls: [{ tool: 'run', args: { command: "printf '\\033[31mred again\\033[0m\\n  --> src/lib.rs:3:5\\n'" } }] }, { text: 'Ran.' }],
    },
  });
  ({ page, faults, context } = await openBrowser(server, { viewport: { width: 1440, height: 900 }, acceptDownloads: true, permissions: ['clipboard-read', 'clipboard-write'] }));
});

const folder = process.env.SCREENSHOTS;
const picture = async (name) => {
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`) });
};
const unhurt = async () => {
  assert.equal(await page.evaluate(() => window.hit), undefined, 'a script ran');
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'the page is as wide as the window');
  assert.ok(await history(page).evaluate((node) => node.scrollWidth <= node.clientWidth), 'nothing sticks out of the conversation');
  assert.deepEqual(faults, []);
};
const viewer = (path) => page.getByRole('region', { name: `File ${path}` });

test('HM-5: reasoning stays with its message, folded', async () => {
  await page.goto((await server.newChat({ title: 'Rendering' })).url);
  await say(page, 'Look');
  const log = history(page);
  await log.getByText('Done looking.').waitFor();
  const fold = log.getByRole('button', { name: 'Reasoning' });
  assert.equal(await fold.getAttribute('aria-expanded'), 'false');
  assert.equal(await log.getByText('First I weigh').count(), 0);
  await fold.click();
  await log.getByText('First I weigh the **options**.').waitFor();
  assert.deepEqual(await violations(page), []);
  await picture('reasoning');
  await page.reload();
  await fold.waitFor();
  assert.equal(await fold.getAttribute('aria-expanded'), 'false', 'folded again, and still there');
  await fold.click();
  await log.getByText('First I weigh the **options**.').waitFor();
  await fold.click();
  await unhurt();
});

test('HM-6: paths in prose open the file at its line beside the chat', async () => {
  const log = history(page);
  await log.getByRole('link', { name: 'src/lib.rs:3', exact: true }).click();
  await viewer('/src/lib.rs').waitFor();
  await page.locator('[data-line="3"]').waitFor();
  await picture('file-beside');
  await log.getByRole('link', { name: 'the manual' }).click();
  await viewer('/README.md').waitFor();
  await page.locator('[data-line="2"]').waitFor();
  await log.getByRole('link', { name: 'src/main.rs' }).focus();
  await page.keyboard.press('Enter');
  await viewer('/src/main.rs').waitFor();
  assert.equal(await log.getByRole('link', { name: /and\/or|example/ }).count(), 1, 'only the address is a link');
  assert.equal(await log.getByRole('link', { name: /example/ }).getAttribute('target'), '_blank');

  // The address of such a link opens the same in a new tab.
  const other = await context.newPage();
  await other.goto(new URL(await log.getByRole('link', { name: 'src/lib.rs:3', exact: true }).getAttribute('href'), server.url).href);
  await other.locator('[data-line="3"]').waitFor();
  await other.close();
});

test('HM-6: a picture of the workspace is shown, and runs nothing; one that can’t be shown is a link', async () => {
  const log = history(page);
  const shop = log.getByRole('img', { name: 'The shop' });
  await shop.waitFor();
  await until(() => shop.evaluate((node) => node.complete && node.naturalWidth === 120), 'the picture to be drawn');
  await log.getByRole('link', { name: 'photo' }).waitFor();
  const pixel = log.getByRole('img', { name: 'A pixel' });
  await until(() => pixel.evaluate((node) => node.complete && node.naturalWidth === 1), 'the PNG file to be drawn');
  await log.getByRole('link', { name: 'docs/pixel.png' }).click();
  await viewer('/docs/pixel.png').getByRole('img').waitFor();
  await log.getByRole('link', { name: 'docs/shop.svg' }).click();
  await viewer('/docs/shop.svg').getByRole('img').waitFor();
  assert.deepEqual(await violations(page), []);
  await picture('picture');
  await unhurt();
});

test('HM-5, HM-6: a call keeps its reasoning, and its row opens the file', async () => {
  await say(page, 'Read');
  const log = history(page);
  await log.getByText('Drawn.').waitFor();
  const row = log.getByRole('article', { name: 'Tool call: read' });
  await row.getByRole('link', { name: '/src/lib.rs' }).click();
  await viewer('/src/lib.rs').waitFor();
  assert.equal(await row.getByRole('button', { expanded: false }).count(), 1, 'the link does not open the row');
  await row.getByRole('button', { expanded: false }).click();
  await row.getByRole('button', { name: 'Reasoning' }).click();
  await row.getByText('Only a call.').waitFor();
});

test('HM-6: a diagram is drawn on a click, and hostile ones do nothing', async () => {
  const log = history(page);
  const blocks = log.locator('.code-block');
  assert.equal(await page.evaluate(() => performance.getEntriesByType('resource').some(({ name }) => name.includes('Diagram'))), false, 'nothing of it is loaded before');
  await log.locator('.hljs-keyword', { hasText: 'fun' }).waitFor();
  for (const index of [0, 1]) {
    await blocks.nth(index).getByRole('button', { name: 'Draw diagram' }).click();
    const image = blocks.nth(index).getByRole('img');
    await until(() => image.evaluate((node) => node.complete && node.naturalWidth > 50), 'the diagram to be drawn');
    if (index === 0) await picture('diagram');
  }
  await blocks.nth(2).getByRole('button', { name: 'Draw diagram' }).click();
  await blocks.nth(2).getByRole('alert').getByText('Can’t draw this diagram.').waitFor();
  await blocks.nth(2).getByText('"a": 1').waitFor();
  assert.deepEqual(await violations(page), []);
  await blocks.nth(0).getByRole('button', { name: 'Show code' }).click();
  await blocks.nth(0).getByText('A[Request]').waitFor();
  await unhurt();
});

test('hostile paths, links and pictures do nothing and stay inside the page', async () => {
  await say(page, 'Be evil');
  await history(page).getByText('End of the hostile text.').waitFor();
  assert.equal(await page.locator('a[href^="javascript:" i], [role=log] img[src^="data:image/svg+xml,<"]').count(), 0);
  await unhurt();
  await page.setViewportSize({ width: 390, height: 844 });
  await history(page).getByText('End of the hostile text.').waitFor();
  await unhurt();
  await page.setViewportSize({ width: 1440, height: 900 });
});

test('HM-9: the chat and the plan are copied and downloaded as Markdown', async () => {
  await say(page, 'Plan');
  await history(page).getByText('The plan is there.').waitFor();
  const choose = async (name) => {
    await page.getByRole('button', { name: 'More' }).click();
    const item = page.getByRole('menuitem', { name });
    await item.waitFor();
    if (name === 'Copy chat as Markdown') await picture('menu');
    await item.click();
  };
  const copied = async (name, sign) => {
    await choose(name);
    return until(async () => {
      const text = await page.evaluate(() => navigator.clipboard.readText());
      return text.includes(sign) && text;
    }, `${name}`);
  };
  const saved = async (name) => {
    const [download] = await Promise.all([page.waitForEvent('download'), choose(name)]);
    return { name: download.suggestedFilename(), text: readFileSync(await download.path(), 'utf8') };
  };
  const chat = await copied('Copy chat as Markdown', '# Rendering');
  for (const part of ['## You, ', 'Look', '## Planner, ', 'see also src/main.rs', '- `read` `/src/lib.rs`', 'Here is the plan.']) assert.ok(chat.includes(part), part);
  const plan = await copied('Copy plan as Markdown', `# ${PLAN.goal}`);
  assert.match(plan, /^# Say goodbye as well as hello\n\n## Steps\n\n1\. \[ \] Add a module\n {3}- Reason: There is none\n {3}- Files: `src\/farewell\.rs`\n\n## Risks\n\n- The wording\n$/);
  assert.deepEqual(await saved('Download chat as Markdown'), { name: 'rendering.md', text: chat });
  assert.deepEqual(await saved('Download plan as Markdown'), { name: 'plan-rendering.md', text: plan });
  assert.deepEqual(faults, []);
});

test('HM-6: terminal output has its colours and its paths, and no other control of it does anything', async () => {
  await page.goto((await server.newChat({ agent_mode: 'act' })).url);
  await say(page, 'Go');
  const log = history(page);
  const run = log.getByRole('article', { name: 'Tool call: run' });
  const output = run.first().getByRole('group', { name: 'Output' });
  await output.locator('.ansi-red').waitFor();
  assert.equal(await output.locator('.ansi-red').innerText(), 'red alert');
  const colours = await output.evaluate((node) => ['.ansi-red', '.ansi-green', 'pre'].map((part) => getComputedStyle(node.querySelector(part)).color));
  assert.equal(new Set(colours).size, 3, `${colours}`);
  const text = await output.locator('pre').innerText();
  assert.ok(text.includes('<img src=x onerror=window.hit=1>') && text.includes('progress 2') && !text.includes('progress 1') && !text.includes('owned'), text);
  assert.deepEqual(await violations(page), []);
  await picture('terminal');
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await until(async () => (await run.first().getAttribute('data-state')) === 'stopped', 'the command to stop');

  await say(page, 'Go on');
  await log.getByText('Ran.').waitFor();
  await page.reload();
  await run.last().getByRole('button', { expanded: false }).click();
  assert.equal(await run.last().getByRole('group', { name: 'Result' }).locator('.ansi-red').innerText(), 'red again', 'stored with its colours');
  await run.last().getByRole('group', { name: 'Result' }).getByRole('link', { name: 'src/lib.rs:3:5' }).click();
  await viewer('/src/lib.rs').waitFor();
  await page.locator('[data-line="3"]').waitFor();
  await unhurt();
});
