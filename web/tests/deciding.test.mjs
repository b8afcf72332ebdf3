// Deciding by mistake and losing control: what comes up unseen takes no click, and what waits can be stopped.
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { OBEDIENT, Stage, answered, atRest, barOf, givenAnswers, settled } from './stage.mjs';
import { composer, escapeTwice, until } from './support.mjs';

let stage;
before(async () => {
  stage = await Stage.set(OBEDIENT);
});

const file = (name) => {
  writeFileSync(join(stage.workspace, name), 'old\n');
  return join(stage.workspace, name);
};
/** A chat in act mode whose model makes these calls. */
const acting = async (...calls) => {
  const chat = await stage.chat({ agent_mode: 'act' });
  const page = await stage.open(chat);
  await stage.say(chat, 'Hello');
  await page.getByText('Ready to build.').waitFor();
  await atRest(stage, chat);
  await stage.say(chat, calls.map(([tool, args]) => `CALL ${tool} ${JSON.stringify(args)}`).join('\n'));
  const bar = barOf(page);
  await bar.waitFor();
  return { chat, page, bar };
};
/**
 * In the very frame in which the bar shows these words: clicks the button of that name, and presses the key where the focus is.
 * Tells whether the button was seen to take nothing.
 */
const atOnce = (page, words, { click, key }) =>
  page.evaluate(
    ([text, name, pressed]) =>
      new Promise((resolve) => {
        const look = () => {
          const bar = document.querySelector('section[data-kind]');
          if (!bar?.textContent.includes(text)) return requestAnimationFrame(look);
          const button = [...bar.querySelectorAll('button')].find((one) => one.textContent.includes(name));
          button.click();
          if (pressed) document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: pressed, bubbles: true, cancelable: true }));
          return resolve(button.getAttribute('aria-disabled') === 'true');
        };
        look();
      }),
    [words, click, key],
  );
const answersIn = async (chat) => (await stage.snapshot(chat)).messages.filter((message) => message.metadata.question_answer).length;
const focusIsOn = (page, locator) => locator.and(page.locator(':focus')).waitFor();
const tone = { name: 'tone', question: 'Which tone?', schema: { type: 'string' }, buttons: [{ label: 'Warm', value: 'warm' }, { label: 'Cool', value: 'cool' }] };

test('a second click at the same spot does not approve the next deletion, which nobody has seen', async () => {
  const [first, second] = [file('twice-1.txt'), file('twice-2.txt')];
  const { chat, page, bar } = await acting(['rm', { path: '/twice-1.txt' }], ['rm', { path: '/twice-2.txt' }]);
  const early = atOnce(page, '/twice-2.txt', { click: 'Delete 1 file', key: 'a' });
  await bar.getByRole('button', { name: 'Delete 1 file' }).click();
  assert.ok(await early, 'the button is seen to take nothing yet');
  await settled(page);
  assert.equal(await answersIn(chat), 1);
  assert.ok(!existsSync(first) && existsSync(second));
  await bar.getByRole('button', { name: 'Deny', exact: true }).click();
  await answered(page);
  await atRest(stage, chat);
  assert.ok(existsSync(second));
  assert.deepEqual(page.faults, []);
});

test('keys are held back as clicks are, also from one question of a batch to the next', async () => {
  const chat = await stage.chat();
  const page = await stage.open(chat);
  await stage.ask(chat, tone, { ...tone, name: 'second', question: 'And this one?' });
  const bar = barOf(page);
  await bar.getByText('Which tone?').waitFor();
  await settled(page);
  await page.keyboard.press('Alt+q');
  await focusIsOn(page, bar.getByRole('button', { name: 'Warm' }));
  const early = atOnce(page, 'And this one?', { click: 'Warm', key: '1' });
  await page.keyboard.press('1');
  assert.ok(await early, 'the buttons are seen to take nothing yet');
  await focusIsOn(page, bar.getByRole('button', { name: 'Warm' }));
  await settled(page);
  assert.equal(await answersIn(chat), 0);
  await page.keyboard.press('2');
  await answered(page);
  assert.deepEqual(await givenAnswers(stage, chat), { tone: 'warm', second: 'cool' });
  await focusIsOn(page, composer(page));
});

test('the focus goes to the composer after an answer, and an Enter too many sends nothing from there', async () => {
  const chat = await stage.chat();
  const page = await stage.open(chat);
  await composer(page).fill('A thought for later');
  await stage.ask(chat, tone);
  await barOf(page).waitFor();
  await settled(page);
  await page.keyboard.press('Alt+q');
  await barOf(page).locator(':focus').waitFor();
  const early = page.evaluate(
    () =>
      new Promise((resolve) => {
        const look = () => {
          const field = document.querySelector('[data-main-field]');
          if (document.activeElement !== field) return requestAnimationFrame(look);
          return resolve(field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true })));
        };
        look();
      }),
  );
  await page.keyboard.press('Enter');
  await early;
  await answered(page);
  await focusIsOn(page, composer(page));
  await atRest(stage, chat);
  assert.equal(await composer(page).inputValue(), 'A thought for later');
});

test('a question that waits can be stopped, by the button and by Escape twice from anywhere', async () => {
  const chat = await stage.chat();
  const page = await stage.open(chat);
  const isStopped = () => until(async () => (await stage.snapshot(chat)).pending_question === null, 'the question to be gone');
  await stage.ask(chat, tone);
  await barOf(page).waitFor();
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await answered(page);
  await isStopped();
  await page.getByRole('article', { name: 'Question' }).getByText('Stopped', { exact: true }).waitFor();

  await stage.ask(chat, tone);
  await barOf(page).waitFor();
  await page.getByRole('searchbox').focus();
  await escapeTwice(page);
  await answered(page);
  await isStopped();
});

test('an Escape that closes a dialog or a menu does not count for stopping', async () => {
  const chat = await stage.chat();
  const page = await stage.open(chat);
  await stage.ask(chat, tone);
  await barOf(page).waitFor();
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem').first().waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('menuitem').first().waitFor({ state: 'detached' });
  await page.keyboard.press('Escape');
  await stage.snapshot(chat);
  assert.notEqual((await stage.snapshot(chat)).pending_question, null);
  await barOf(page).waitFor();
});

test('Alt+Q never lands where Enter allows: on Deny for a call, on the bar for a plan or a critical choice', async () => {
  const path = file('landing.txt');
  const { chat, page, bar } = await acting(['rm', { path: '/landing.txt' }]);
  await settled(page);
  await page.keyboard.press('Alt+q');
  await focusIsOn(page, bar.getByRole('button', { name: 'Deny', exact: true }));
  await page.keyboard.press('Enter');
  await answered(page);
  await atRest(stage, chat);
  assert.ok(existsSync(path));
});

test('a command that ended with an error has no mark of success in its row', async () => {
  const chat = await stage.chat({ agent_mode: 'act' });
  const page = await stage.open(chat);
  await stage.say(chat, 'Hello');
  await page.getByText('Ready to build.').waitFor();
  await atRest(stage, chat);
  await stage.say(chat, `CALL run ${JSON.stringify({ command: 'exit 3' })}`);
  const row = page.getByRole('article', { name: 'Tool call: run' });
  await row.and(page.locator('[data-state="exited"]')).waitFor();
  await row.getByText('exit code 3', { exact: true }).waitFor();
});

test('a call that asks is shown as waiting, not as done', async () => {
  const chat = await stage.chat();
  const page = await stage.open(chat);
  await stage.ask(chat, tone);
  const row = page.getByRole('article', { name: 'Tool call: ask_user' });
  await row.and(page.locator('[data-state="awaiting"]')).waitFor();
  await barOf(page).getByRole('button', { name: 'Cool' }).click();
  await row.and(page.locator('[data-state="done"]')).waitFor();
});
