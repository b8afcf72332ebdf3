// What axe finds on a page: nothing, it is hoped.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { calm } from './stage.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** The rules that look at colours. A theme changes nothing else. */
const OF_COLOURS = ['color-contrast', 'link-in-text-block'];

/** By all rules, or by `values` alone. */
export async function violations(page, { values } = {}) {
  await calm(page);
  // By the debugger, which the page's own policy does not bind; once in each document.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe);
  const options = { resultTypes: ['violations'], ...(values && { runOnly: { type: 'rule', values } }) };
  const found = await page.evaluate((chosen) => window.axe.run(document, chosen).then((all) => all.violations), options);
  return found.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map((node) => node.html.slice(0, 200)).join(' | ')}`);
}

/** In both themes: whatever is no colour once. */
export async function assertNothingFound(page, what) {
  const show = async (colorScheme) => {
    await page.emulateMedia({ colorScheme });
    await page.locator(`html[data-theme=${colorScheme}]`).waitFor();
  };
  await show('light');
  assert.deepEqual(await violations(page), [], `${what}, light`);
  await show('dark');
  assert.deepEqual(await violations(page, { values: OF_COLOURS }), [], `${what}, dark`);
}
