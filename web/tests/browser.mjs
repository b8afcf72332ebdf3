// The one browser of a test file, and its pages. A page of its own process costs more than most tests do, so a test takes over the page that the last one left, emptied.
import { after, afterEach, beforeEach } from 'node:test';
import { chromium } from 'playwright-core';

/** A busy machine is slow: only what never comes is waited for this long. */
export const PATIENCE = Number(process.env.PATIENCE ?? 300_000);
const DEFAULTS = { viewport: { width: 1280, height: 860 }, locale: 'en-US', serviceWorkers: 'block' };

let browser = null;
after(() => browser?.close());

/** A browser profile of its own, in which any error of the page goes to `faults`. Tests answer in the server's place, which a service worker would hide from them. */
export async function newContext(options) {
  browser ??= await chromium.launch({
    timeout: PATIENCE,
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
  const context = await browser.newContext({ ...DEFAULTS, ...options });
  context.setDefaultTimeout(PATIENCE);
  const faults = [];
  context.on('page', (page) => {
    page.on('pageerror', (error) => faults.push(error.message));
    page.on('console', (message) => message.type() === 'error' && !isExpected(message.text()) && faults.push(message.text()));
  });
  return { context, faults };
}

/** The browser's own words about answers that are part of a test: a refusal, a server that is gone. */
const isExpected = (text) => text.startsWith('Failed to load resource') || text.includes('net::ERR_CONNECTION_REFUSED');

/** Pages that a test has left, by the options of their context. */
const left = new Map();
/** The tests that run now, outermost first, each with the pages that it took. */
const running = [];

beforeEach(() => {
  running.push([]);
});
afterEach(async (test) => {
  for (const taken of running.pop()) {
    if (!(test.passed && (await isEmptied(taken)))) await taken.context.close();
    else left.set(taken.key, [...(left.get(taken.key) ?? []), taken]);
  }
});

/** A page with nothing in it: one that a test before has left, or a new one. Outside of tests, such as in `before`, it is always new. */
export async function takePage(options = {}) {
  const key = JSON.stringify(options);
  const taken = left.get(key)?.pop() ?? (await openPage(options, key));
  running.at(-1)?.push(taken);
  return taken;
}

async function openPage(options, key) {
  const { context, faults } = await newContext(options);
  return { key, options: { ...DEFAULTS, ...options }, context, faults, page: await context.newPage() };
}

/** Takes everything out of a page that a test could have put there; false if it was closed. */
async function isEmptied({ options, context, faults, page }) {
  try {
    for (const other of context.pages()) if (other !== page) await other.close();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await context.unrouteAll({ behavior: 'ignoreErrors' });
    await context.setOffline(false);
    const { origin } = new URL(page.url());
    // A page that is left stores its drafts; this comes after that.
    await page.evaluate(() => {
      for (const event of ['pagehide', 'visibilitychange']) addEventListener(event, () => sessionStorage.clear());
    });
    await page.goto('about:blank');
    const debug = await context.newCDPSession(page);
    await debug.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' });
    await debug.detach();
    await context.clearCookies();
    await page.setViewportSize(options.viewport);
    await page.emulateMedia({ colorScheme: options.colorScheme ?? null, reducedMotion: options.reducedMotion ?? null });
    faults.length = 0;
    return true;
  } catch {
    return false;
  }
}
