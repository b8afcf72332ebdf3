// The plain page in a real browser, against the real binary: from a request to a changed file.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { chromium } from 'playwright-core';

const root = new URL('../..', import.meta.url).pathname;
const home = mkdtempSync(join(tmpdir(), 'planwright-'));
const workspace = join(home, 'greeter');
let server, browser, address;

before(async () => {
  cpSync(join(root, 'samples/greeter'), workspace, { recursive: true });
  const binary = process.env.PLANWRIGHT_BINARY ?? join(root, 'target/debug/planwright');
  server = spawn(binary, ['serve', '--workspace', workspace, '--data-dir', join(home, 'data'), '--listen', '127.0.0.1:0', '--model', 'demo/demo'], { stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: server.stdout })) {
    address = line.match(/^sign in at (.*)/)?.[1];
    if (address) break;
  }
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
});

after(async () => {
  await browser?.close();
  server?.kill('SIGTERM');
  rmSync(home, { recursive: true, force: true });
});

test('a newcomer sees a plan, approves it, and sees the change', async () => {
  const page = await browser.newPage();
  const faults = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
  await page.goto(address);
  const mode = page.locator('#mode');
  await mode.filter({ hasText: 'PLAN' }).waitFor();
  assert.ok(!page.url().includes('token'), 'the token stays out of the address bar');

  await page.getByLabel('Message').fill('Say goodbye, too');
  await page.keyboard.press('Enter');
  await page.getByText('Plan: Say goodbye as well as hello').waitFor();
  await page.getByText('idle').waitFor();
  assert.ok(!existsSync(join(workspace, 'src/farewell.rs')), 'nothing is changed before the approval');
  if (process.env.SCREENSHOTS) await page.screenshot({ path: join(process.env.SCREENSHOTS, 'plan.png') });

  await page.getByRole('button', { name: 'Execute Plan' }).click();
  await mode.filter({ hasText: 'BUILD' }).waitFor();
  await page.getByText('and nothing else changed').waitFor();
  assert.match(readFileSync(join(workspace, 'src/farewell.rs'), 'utf8'), /Goodbye/);
  const done = page.locator('[data-step="2"]').filter({ hasText: '☑' });
  await done.waitFor();
  assert.match(readFileSync(join(workspace, 'plans/say-goodbye-as-well-as-hello.plan'), 'utf8'), /- \[x\] 2\. /);
  if (process.env.SCREENSHOTS) await page.screenshot({ path: join(process.env.SCREENSHOTS, 'act.png') });

  await page.reload();
  await mode.filter({ hasText: 'BUILD' }).waitFor();
  await page.getByText('and nothing else changed').waitFor();
  await done.waitFor();
  assert.deepEqual(faults, []);
});

test('without the token the page says where to find it', async () => {
  const page = await browser.newPage();
  await page.goto(new URL('/', address).href);
  await page.getByText('it carries the token').waitFor();
});
