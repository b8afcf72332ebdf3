// What axe finds on a page: nothing, it is hoped.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { calm } from './stage.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** The rules that look at colours. A theme changes nothing else. */
const OF_COLOURS = ['color-contrast', 'link-in-text-block'];

/** By all rules, or by those named. */
export async function violations(page, rules) {
  await calm(page);
  // By the debugger, which the page's own policy does not bind; once in each document.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe);
  const found = await page.evaluate((values) => window.axe.run(document, { resultTypes: ['violations'], ...(values && { runOnly: { type: 'rule', values } }) }).then((all) => all.violations), rules);
  return found.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map((node) => node.html.slice(0, 200)).join(' | ')}`);
}

/** The same in both themes: whatever is no colour once. */
export async function assertNothingFound(page, what) {
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme });
    await page.locator(`html[data-theme=${colorScheme}]`).waitFor();
    assert.deepEqual(await violations(page, colorScheme === 'dark' ? OF_COLOURS : undefined), [], `${what}, ${colorScheme}`);
  }
}
