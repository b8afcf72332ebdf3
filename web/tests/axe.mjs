// What axe finds on a page: nothing, it is hoped.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { calm } from './stage.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export async function violations(page) {
  await calm(page);
  // By the debugger, which the page's own policy does not bind.
  await page.evaluate(axe);
  const { violations: found } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  return found.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map((node) => node.html.slice(0, 200)).join(' | ')}`);
}
