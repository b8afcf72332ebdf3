// Question JSON in an answer of the model, and what its severity changes.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { Stage, answered, atRest, barOf, givenAnswers, picture } from './stage.mjs';

const question = (severity, more) => JSON.stringify({ type: 'question', question: `A ${severity} question?`, context: 'It matters.', severity, ...more });
const options = [{ label: 'Yes, proceed', value: 'yes', description: 'All of it' }, { label: 'No, cancel', value: 'no' }];
let stage;
before(async () => {
  stage = await Stage.set({
    plan: [
      { text: `I have to ask.\n\n\`\`\`json\n${question('critical', { options, default: 'yes' })}\n\`\`\`` },
      { text: question('minor', { options, default: 'no' }) },
      { text: question('critical', {}) },
      { text: 'Thank you.' },
    ],
  });
});

test('question JSON in an answer becomes a card, and the work goes on with the answer', async () => {
  const chat = await stage.chat();
  const page = await stage.open(chat);
  const bar = barOf(page);
  await stage.say(chat, 'Begin');
  await bar.getByText('A critical question?').waitFor();
  await page.getByText('I have to ask.').waitFor();
  await bar.getByText('It matters.').waitFor();
  await page.locator('[data-question][data-status="pending"]').getByText('Waiting for your answer').waitFor();
  await bar.getByRole('button', { name: 'No, cancel' }).click();
  await bar.getByText('A minor question?').waitFor();
  await bar.getByRole('button', { name: 'Yes, proceed' }).click();
  await bar.getByRole('textbox').fill('Free text');
  await bar.getByRole('button', { name: 'Send answer' }).click();
  await page.getByText('Thank you.').waitFor();
  assert.deepEqual(await givenAnswers(stage, chat), { answer: 'Free text' });
  assert.equal(await page.locator('[data-question][data-status="answered"]').count(), 3);
  assert.deepEqual(page.faults, []);
});

test('critical is red, announced at once, has no default and is not sent by Enter; minor is quiet and has its default ready', async () => {
  const chat = await stage.chat();
  const page = await stage.open(chat);
  const bar = barOf(page);
  const colour = (locator, property) => locator.evaluate((element, name) => getComputedStyle(element).getPropertyValue(name), property);
  await stage.say(chat, 'Begin');
  await page.locator('section[data-severity="critical"]').waitFor();
  const frame = await colour(bar, 'border-top-color');
  await page.getByRole('alert').filter({ hasText: 'Critical decision needed: A critical question?' }).waitFor({ state: 'attached' });
  const looks = new Set(await Promise.all(options.map(({ label }) => colour(bar.getByRole('button', { name: label }), 'background-color'))));
  assert.equal(looks.size, 1, 'no answer stands out');
  await picture(page, 'severity-critical');
  await stage.answer(chat, { answer: 'no' });

  await page.locator('section[data-severity="minor"]').waitFor();
  assert.notEqual(await colour(bar, 'border-top-color'), frame);
  const [other, preset] = await Promise.all(options.map(({ label }) => colour(bar.getByRole('button', { name: label }), 'background-color')));
  assert.notEqual(preset, other, 'the default stands out');
  await picture(page, 'severity-minor');
  await stage.answer(chat, { answer: 'no' });

  await page.locator('section[data-severity="critical"]').waitFor();
  const field = bar.getByRole('textbox');
  await field.fill('Yes');
  await field.press('Enter');
  await field.press('Control+Enter');
  await stage.call('GET', chat.api);
  assert.equal((await stage.snapshot(chat)).chat.state, 'awaiting_answer');
  assert.deepEqual(await givenAnswers(stage, chat), { answer: 'no' }, 'Enter has sent nothing');
  await bar.getByRole('button', { name: 'Send answer' }).click();
  await answered(page);
  await atRest(stage, chat);
  assert.deepEqual(await givenAnswers(stage, chat), { answer: 'Yes' });
});
