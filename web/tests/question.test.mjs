// Questions of the agent in a real browser, against the real binary: answered by forms, by buttons, by keys.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { OBEDIENT, PAYLOADS, Stage, answered, atRest, barOf, givenAnswers, nothingRan, picture, settled } from './stage.mjs';

let stage;
before(async () => {
  stage = await Stage.set(OBEDIENT);
});

const asked = async (...questions) => {
  const chat = await stage.chat();
  const page = await stage.open(chat);
  await stage.ask(chat, ...questions);
  const bar = barOf(page);
  await bar.waitFor();
  return { chat, page, bar };
};
const send = (bar) => bar.getByRole('button', { name: /^Send answer/ }).click();

test('every schema gets the control that fits it', async (t) => {
  const cases = [
    ['boolean', { type: 'boolean' }, (bar) => bar.getByRole('switch').click(), true],
    ['a few values', { enum: ['red', 'green'] }, (bar) => bar.getByLabel('green').check(), 'green'],
    ['constants with titles', { oneOf: [{ const: 1, title: 'One' }, { const: 2, title: 'Two' }] }, (bar) => bar.getByLabel('Two').check(), 2],
    [
      'many values',
      { enum: ['Ada', 'C', 'Go', 'Java', 'Lua', 'OCaml', 'Rust', 'Zig'] },
      async (bar) => {
        await bar.getByRole('combobox').fill('Ru');
        await bar.page().getByRole('option', { name: 'Rust' }).click();
      },
      'Rust',
    ],
    ['text', { type: 'string', pattern: '^/' }, (bar) => bar.getByRole('textbox').fill('/limits'), '/limits'],
    ['long text', { type: 'string', maxLength: 500 }, (bar) => bar.getByRole('textbox').fill('two\nlines'), 'two\nlines'],
    ['number', { type: 'number', minimum: 0 }, (bar) => bar.getByRole('textbox').fill('2.5'), 2.5],
    ['whole number', { type: 'integer' }, (bar) => bar.getByRole('textbox').fill('42'), 42],
    [
      'some of a few values',
      { type: 'array', items: { enum: ['a', 'b', 'c'] }, minItems: 1 },
      async (bar) => {
        await bar.getByRole('checkbox', { name: 'c' }).check();
        await bar.getByRole('checkbox', { name: 'a' }).check();
      },
      ['a', 'c'],
    ],
    [
      'a list of texts',
      { type: 'array', items: { type: 'string' } },
      async (bar) => {
        await bar.getByRole('textbox').pressSequentially('one');
        await bar.getByRole('textbox').press('Enter');
        await bar.getByRole('textbox').pressSequentially('two,');
      },
      ['one', 'two'],
    ],
    [
      'an object with an object in it, by reference',
      {
        type: 'object',
        properties: { name: { type: 'string' }, note: { type: 'string' }, limit: { $ref: '#/$defs/limit' } },
        required: ['name', 'limit'],
        $defs: { limit: { type: 'object', properties: { burst: { type: 'integer' } }, required: ['burst'] } },
      },
      async (bar) => {
        await bar.getByLabel('name').fill('api');
        await bar.getByLabel('burst').fill('5');
      },
      { name: 'api', limit: { burst: 5 } },
    ],
    ['anything else, as JSON', { anyOf: [{ type: 'string' }, { type: 'object' }] }, (bar) => bar.getByRole('textbox').fill('{"a": [1]}'), { a: [1] }],
  ];
  const chat = await stage.chat();
  const page = await stage.open(chat);
  const bar = barOf(page);
  for (const [name, schema, fill, expected] of cases) {
    await t.test(name, async () => {
      const question = `Which one? (${name})`;
      await stage.ask(chat, { name: 'it', question, schema });
      await bar.getByText(question).waitFor();
      await fill(bar);
      await send(bar);
      await answered(page);
      assert.deepEqual(await givenAnswers(stage, chat), { it: expected });
      await page.locator('[data-question][data-status="answered"]').filter({ hasText: question }).waitFor();
      assert.deepEqual(page.faults, []);
      await atRest(stage, chat);
    });
  }
});

test('a button sends its whole value at once', async () => {
  const { chat, page, bar } = await asked({
    name: 'where',
    question: 'Where?',
    schema: { type: 'object' },
    buttons: [{ label: 'Here', value: { x: 1, y: [2] }, variant: 'primary' }, { label: 'There', value: { x: 3 }, variant: 'danger' }],
  });
  await picture(page, 'question-buttons');
  await bar.getByRole('button', { name: 'Here', exact: true }).click();
  await answered(page);
  assert.deepEqual(await givenAnswers(stage, chat), { where: { x: 1, y: [2] } });
  await page.locator('[data-answer]').filter({ hasText: 'Here' }).waitFor();
});

test('a batch is gone through step by step, back and forth, and sent as one', async () => {
  const { chat, page, bar } = await asked(
    { name: 'name', question: 'What is it called?', schema: { type: 'string', minLength: 2 } },
    { name: 'public', question: 'Is it public?', schema: { type: 'boolean' }, buttons: [{ label: 'Yes, public', value: true }, { label: 'No, private', value: false }] },
    { name: 'size', question: 'How large?', schema: { type: 'integer', minimum: 1 } },
  );
  await bar.getByText('1 of 3').waitFor();
  const next = bar.getByRole('button', { name: 'Next' });
  await next.click();
  await bar.getByText('This field is required.').waitFor();
  await bar.getByRole('textbox').fill('api');
  await next.click();
  await bar.getByText('2 of 3').waitFor();
  await picture(page, 'question-batch');
  await bar.getByRole('button', { name: 'No, private' }).click();
  await bar.getByText('3 of 3').waitFor();
  await bar.getByRole('button', { name: 'Back' }).click();
  await bar.getByRole('button', { name: 'No, private', pressed: true }).waitFor();
  await bar.getByRole('button', { name: 'Question 3: size' }).click();
  await bar.getByRole('textbox').fill('0');
  await send(bar);
  await bar.getByText('Must be at least 1.').waitFor();
  await bar.getByRole('textbox').fill('7');
  await send(bar);
  await answered(page);
  assert.deepEqual(await givenAnswers(stage, chat), { name: 'api', public: false, size: 7 });
  const stored = (await stage.snapshot(chat)).messages.findLast((message) => message.metadata.question_answer);
  assert.equal(stored.content, '[Answers: name=api, public=false, size=7]');
  assert.equal(await page.getByText(stored.content).count(), 0, 'the card tells it in its own words');
  assert.deepEqual(page.faults, []);
});

const ENDPOINT = {
  name: 'endpoint',
  question: 'Configure the **endpoint**',
  context: 'Two routes match `/limits`.',
  schema: {
    type: 'object',
    properties: { path: { type: 'string', pattern: '^/' }, method: { enum: ['GET', 'POST'] }, auth: { type: 'boolean', default: true } },
    required: ['path', 'method'],
  },
};

test('wrong fields are named, the first is focused, and a corrected one says so at once', async () => {
  const { page, bar } = await asked(ENDPOINT);
  await send(bar);
  await bar.getByText('This field is required.').nth(1).waitFor();
  await bar.getByLabel('path').and(page.locator(':focus')).waitFor();
  await picture(page, 'question-errors');
  const path = bar.getByLabel('path');
  await path.fill('limits');
  await bar.getByText('Must match the pattern ^/').waitFor();
  assert.equal(await path.getAttribute('aria-invalid'), 'true');
  const described = await path.getAttribute('aria-describedby');
  assert.match(await page.locator(`[id="${described.split(' ').at(-1)}"]`).innerText(), /pattern/);
  await path.fill('/limits');
  await bar.getByText('Must match').waitFor({ state: 'detached' });
  await bar.getByLabel('GET').check();
  await send(bar);
  await answered(page);
});

test('a pattern that would hold up the page for ever is left to the server, whose complaint shows at the field', async () => {
  const { page, bar } = await asked({ name: 'word', question: 'A word?', schema: { type: 'string', pattern: '^(a+)+$' } });
  await bar.getByRole('textbox').fill(`${'a'.repeat(32)}!`);
  await send(bar);
  await bar.getByText('must match the pattern').waitFor();
  assert.equal(await bar.getByRole('textbox').getAttribute('aria-invalid'), 'true');
  await bar.getByRole('textbox').fill('aaa');
  await send(bar);
  await answered(page);
});

test('a half-given answer outlives a reload, a restart of the server and its death', async () => {
  const { chat, page, bar } = await asked({ name: 'go', question: 'Go?', schema: { type: 'boolean' }, buttons: [{ label: 'Go', value: true }, { label: 'Wait', value: false }] }, { ...ENDPOINT });
  await bar.getByRole('button', { name: 'Go', exact: true }).click();
  await bar.getByLabel('path').fill('/half');
  await bar.getByLabel('POST').check();
  const isThere = async () => {
    await bar.getByText('2 of 2').waitFor();
    assert.equal(await bar.getByLabel('path').inputValue(), '/half');
    assert.ok(await bar.getByLabel('POST').isChecked());
  };
  await page.reload();
  await isThere();
  await stage.end('SIGTERM');
  await stage.start();
  await page.reload();
  await isThere();
  await stage.end('SIGKILL');
  await stage.start();
  await page.getByText('Live').waitFor();
  await isThere();
  await send(bar);
  await answered(page);
  assert.deepEqual(await givenAnswers(stage, chat), { go: true, endpoint: { path: '/half', method: 'POST', auth: true } });
  await page.reload();
  await page.locator('[data-status="answered"]').waitFor();
  assert.equal(await barOf(page).count(), 0);
});

test('without a connection the answer is kept, and says so', async () => {
  const { chat, page, bar } = await asked({ name: 'word', question: 'A word?', schema: { type: 'string' } });
  await bar.getByRole('textbox').fill('kept');
  await stage.end('SIGKILL');
  await send(bar);
  await bar.getByText('Can’t reach the server').waitFor();
  await stage.start();
  await send(bar);
  await answered(page);
  assert.deepEqual(await givenAnswers(stage, chat), { word: 'kept' });
});

test('an answer from another tab closes the bar in this one, and a late one learns it', async () => {
  const { chat, page, bar } = await asked({ name: 'word', question: 'A word?', schema: { type: 'string' } });
  const other = await stage.open(chat, { context: page.context() });
  await barOf(other).getByRole('textbox').fill('late');
  // Its answer is on the way while the first tab answers.
  let release;
  const held = new Promise((resolve) => (release = resolve));
  await other.route('**/messages', async (route) => {
    await held;
    await route.continue();
  });
  await send(barOf(other));
  await bar.getByRole('textbox').fill('first');
  await send(bar);
  await answered(page);
  await answered(other);
  const refused = other.waitForResponse((response) => response.status() === 409);
  release();
  assert.equal((await (await refused).json()).error.code, 'QUESTION_NOT_PENDING');
  for (const tab of [page, other]) await tab.locator('[data-answer]').filter({ hasText: 'first' }).waitFor();
  assert.deepEqual(await givenAnswers(stage, chat), { word: 'first' });
  assert.deepEqual([...page.faults, ...other.faults], []);
});

test('a question never takes the focus; Alt+Q goes to it; digits answer only in its button row', async () => {
  const chat = await stage.chat();
  const page = await stage.open(chat);
  const composer = page.getByRole('textbox', { name: 'Message' });
  await composer.pressSequentially('half a se');
  await stage.ask(chat, { name: 'pick', question: 'Which?', schema: { enum: ['a', 'b'] }, buttons: [{ label: 'First', value: 'a' }, { label: 'Second', value: 'b' }] });
  await barOf(page).waitFor();
  await page.keyboard.type('ntence 1 2');
  assert.equal(await composer.inputValue(), 'half a sentence 1 2');
  assert.equal(await givenAnswers(stage, chat), undefined, 'typing has answered nothing');
  await settled(page);
  await page.keyboard.press('Alt+q');
  await page.getByRole('button', { name: 'First' }).and(page.locator(':focus')).waitFor();
  await page.keyboard.press('ArrowRight');
  await page.getByRole('button', { name: 'Second' }).and(page.locator(':focus')).waitFor();
  await page.keyboard.press('2');
  await answered(page);
  assert.deepEqual(await givenAnswers(stage, chat), { pick: 'b' });
  assert.equal(await composer.inputValue(), 'half a sentence 1 2', 'what was typed is still there');
});

test('digits typed into a field of the bar are digits, and Enter within an input method is not Send', async () => {
  const { chat, page, bar } = await asked(
    { name: 'count', question: 'How many?', schema: { type: 'integer' } },
    { name: 'pick', question: 'Which?', schema: { enum: ['a', 'b'] }, buttons: [{ label: 'First', value: 'a' }, { label: 'Second', value: 'b' }] },
  );
  await bar.getByRole('textbox').click();
  await page.keyboard.type('12');
  assert.equal(await bar.getByRole('textbox').inputValue(), '12');
  await bar.getByText('1 of 2').waitFor();
  await bar.getByRole('textbox').evaluate((field) => field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true, isComposing: true, ctrlKey: true })));
  await bar.getByText('1 of 2').waitFor();
  await settled(page);
  await page.keyboard.press('Enter');
  await bar.getByText('2 of 2').waitFor();
  await settled(page);
  assert.equal(await givenAnswers(stage, chat), undefined);
  await bar.getByRole('button', { name: 'First' }).focus();
  await page.keyboard.press('1');
  await answered(page);
  assert.deepEqual(await givenAnswers(stage, chat), { count: 12, pick: 'a' });
});

test('another message instead of an answer is asked about once', async () => {
  const { chat, page, bar } = await asked({ name: 'word', question: 'A word?', schema: { type: 'string' } });
  const composer = page.getByRole('textbox', { name: 'Message' });
  await composer.fill('Never mind');
  await composer.press('Enter');
  const dialog = page.getByRole('alertdialog');
  await dialog.waitFor();
  await picture(page, 'question-leave');
  await dialog.getByRole('button', { name: 'Back to the question' }).click();
  await bar.waitFor();
  await composer.press('Enter');
  await dialog.getByRole('button', { name: 'Send anyway' }).click();
  await answered(page);
  await page.locator('[data-status="superseded"]').waitFor();
  assert.ok((await stage.snapshot(chat)).messages.some((message) => message.content === 'Never mind'));
});

test('stopping makes the bar go at once', async () => {
  const { chat, page } = await asked({ name: 'word', question: 'A word?', schema: { type: 'string' } });
  await stage.call('POST', `${chat.api}/stop`, {});
  await answered(page);
  await page.locator('[data-status="stopped"]').waitFor();
});

test('title, icon and a notification tell somebody who looks elsewhere; permission is asked at the first question, never at load', async () => {
  const context = await stage.context();
  await context.addInitScript(() => {
    window.told = [];
    window.Notification = class {
      static permission = 'default';
      static requestPermission = async () => {
        window.told.push('asked for permission');
        Notification.permission = 'granted';
        return 'granted';
      };
      constructor(title, { body }) {
        window.told.push(`${title}: ${body}`);
      }
      close() {}
    };
    let hidden = false;
    Object.defineProperty(document, 'hidden', { get: () => hidden });
    window.hide = () => (hidden = true);
  });
  const chat = await stage.chat();
  const page = await stage.open(chat, { context });
  const told = () => page.evaluate(() => window.told);
  assert.deepEqual(await told(), []);
  await stage.ask(chat, { name: 'word', question: 'A **first** word?', schema: { type: 'string' } });
  await barOf(page).waitFor();
  await page.waitForFunction(() => document.title.startsWith('(1) '));
  assert.match(await page.locator('link[rel="icon"]').getAttribute('href'), /question/);
  assert.deepEqual(await told(), ['asked for permission']);
  await stage.answer(chat, { word: 'x' });
  await answered(page);
  await page.waitForFunction(() => !document.title.startsWith('(1) '));
  assert.doesNotMatch(await page.locator('link[rel="icon"]').getAttribute('href'), /question/);
  await page.evaluate(() => window.hide());
  await stage.ask(chat, { name: 'word', question: 'A **second** word?', schema: { type: 'string' } });
  await barOf(page).waitFor();
  await page.waitForFunction(() => window.told.length === 2);
  assert.match((await told())[1], /^Waiting for you: .*: A second word\?$/);
  await context.close();
});

test('payloads in questions, labels, values and fields are text', async () => {
  const properties = Object.fromEntries(PAYLOADS.map((payload) => [payload, { type: 'string', description: payload, title: payload }]));
  const { page, bar } = await asked(
    { name: 'a', question: PAYLOADS.join('\n\n'), context: PAYLOADS.join('\n\n'), schema: { enum: PAYLOADS }, buttons: PAYLOADS.map((payload) => ({ label: payload, value: payload, description: payload })) },
    { name: 'b', question: 'Fields', schema: { type: 'object', properties } },
    { name: 'c', question: 'Cards', schema: { enum: PAYLOADS } },
  );
  await bar.getByRole('button', { name: '<svg/onload' }).click();
  await bar.getByText('2 of 3').waitFor();
  await bar.getByLabel(PAYLOADS[0]).first().fill('x');
  await bar.getByRole('button', { name: 'Next' }).click();
  await bar.getByText('3 of 3').waitFor();
  await bar.getByLabel(PAYLOADS[1]).check();
  assert.ok(await nothingRan(page));
  await send(bar);
  await answered(page);
  await page.locator('[data-status="answered"]').waitFor();
  assert.ok(await nothingRan(page));
  assert.deepEqual(page.faults, []);
});
