// Pages with the data of a whole team look as they did: compared with the pictures in tests/pictures, which `make pictures` renews.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { before, test } from 'node:test';
import { compare, halved, isSame } from './pictures.mjs';
import { decode, encode } from './png.mjs';
import { openAs, PEOPLE, seedTeam } from './seed.mjs';
import { calm } from './stage.mjs';
import { newContext, startServer } from './support.mjs';
import { approval, changes, chat, inbox, planPanel } from './team-pages.mjs';

const FONTS = { 'Liberation Sans': 'fonts-liberation', 'DejaVu Sans Mono': 'fonts-dejavu-core', 'Noto Sans CJK SC': 'fonts-noto-cjk' };
const missing = Object.entries(FONTS).filter(([name]) => !String(spawnSync('fc-match', [name]).stdout).includes(name.split(' ')[0]));
/** Letters of another font are other pictures. */
const skip = missing.length > 0 && `pictures are compared with the fonts they were made with; install ${missing.map(([, names]) => names).join(' ')}`;

const DESKTOP = { viewport: { width: 1280, height: 800 } };
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const LOOKS = [
  { options: DESKTOP, pages: { inbox, 'chat-with-plan': chat('plan'), 'plan-panel': planPanel, changes, approval } },
  { options: PHONE, pages: { 'inbox-phone': inbox, 'approval-phone': approval } },
  { options: { ...DESKTOP, colorScheme: 'dark' }, pages: { 'inbox-dark': inbox, 'chat-with-plan-dark': chat('plan') } },
  { options: { ...DESKTOP, locale: 'zh-CN' }, pages: { 'inbox-chinese': inbox, 'question-chinese': chat('chinese-question') } },
];

let place;
before(async () => {
  place = skip ? null : await seedTeam(startServer);
});

async function shoot(page) {
  await page.mouse.move(0, 0);
  await page.waitForFunction(() => !document.querySelector('[data-loading]'));
  await page.evaluate(() => document.fonts.ready);
  await calm(page);
  return page.screenshot({ animations: 'disabled' });
}

for (const { options, pages } of LOOKS) {
  for (const [name, show] of Object.entries(pages)) {
    test(`${name} looks as it did`, { skip }, async () => {
      const { page, context } = await openAs(newContext, place.server, PEOPLE[0], options);
      await show(page, place);
      assert.equal(compare(name, await shoot(page)), null);
      await context.close();
    });
  }
}

test('a moved button is another picture; other antialiasing is the same', { skip }, async () => {
  const { page, context } = await openAs(newContext, place.server, PEOPLE[0], DESKTOP);
  await inbox(page, place);
  const was = decode(encode(decode(await shoot(page))));
  const stop = page.getByRole('button', { name: 'Stop' }).first();
  await stop.evaluate((button) => { button.style.translate = '-14px 0'; });
  assert.equal(isSame(was, decode(await shoot(page))), false, 'the smallest button of the page, moved by its own width');
  await stop.evaluate((button) => { button.style.translate = ''; });
  const review = page.getByRole('main').getByText('Review', { exact: true }).first();
  await review.evaluate((button) => { button.style.visibility = 'hidden'; });
  assert.equal(isSame(was, decode(await shoot(page))), false, 'a button that is gone');
  await review.evaluate((button) => { button.style.visibility = ''; });
  await context.close();
  const { page: fine, context: screen } = await openAs(newContext, place.server, PEOPLE[0], { ...DESKTOP, deviceScaleFactor: 2 });
  await inbox(fine, place);
  const drawn = halved(decode(await shoot(fine)));
  await screen.close();
  const changed = pixelsThatDiffer(was, drawn);
  assert.ok(changed > 10_000, `only ${changed} pixels are drawn in another way`);
  assert.equal(isSame(was, drawn), true);
});

const pixelsThatDiffer = (one, other) => {
  let count = 0;
  for (let at = 0; at < one.pixels.length; at += 3) if ([0, 1, 2].some((part) => Math.abs(one.pixels[at + part] - other.pixels[at + part]) > 24)) count += 1;
  return count;
};
