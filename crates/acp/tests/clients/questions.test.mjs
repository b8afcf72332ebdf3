// Questions of the model: by a form, by options, by typing; and never answered by anybody but the user.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Home, ask, choose, lifeCycle } from './support.mjs';

const forms = { elicitation: { form: {} } };
const colour = { name: 'colour', question: 'Which colour?', schema: { type: 'string', enum: ['red', 'blue'] } };
const name = { name: 'name', question: 'What is it called?', schema: { type: 'string', minLength: 3 } };
const asking = (told, ...questions) => ({ plan: [{ calls: [ask(...questions)] }, { text: 'Thank you.', told }] });

test('a question is a form where the client has them, and the model gets what was filled in', async () => {
  const parts = { name: 'parts', question: 'Which parts?', schema: { type: 'array', items: { enum: ['head', 'tail'] }, minItems: 1 } };
  const home = new Home(asking(['blue', 'kite', 'tail'], colour, name, parts));
  const content = { colour: 'blue', name: 'kite', parts: ['tail'] };
  const editor = await home.editor({ can: forms, fill: () => ({ action: 'accept', content }) });
  await editor.begin();
  assert.equal(await editor.say('Go'), 'end_turn');
  const [{ mode, requestedSchema, sessionId, toolCallId }] = editor.forms;
  assert.deepEqual([mode, sessionId, toolCallId], ['form', editor.session, editor.call('ask_user').toolCallId]);
  assert.deepEqual(requestedSchema.required, ['colour', 'name', 'parts']);
  assert.deepEqual(requestedSchema.properties.colour.oneOf.map((option) => option.const), ['red', 'blue']);
  assert.equal(requestedSchema.properties.name.minLength, 3);
  assert.deepEqual(requestedSchema.properties.parts.items.enum, ['head', 'tail']);
  assert.deepEqual([editor.forms.length, editor.permissions.length], [1, 0]);
  assert.match(editor.words(), /Which colour\?[^]*Thank you\.$/);
  const call = editor.call('ask_user');
  assert.equal(call.status, 'completed');
  assert.match(JSON.stringify(call.content), /blue/);
});

test('an answer that does not fit is asked for again with the reason, and taken when it fits', async () => {
  const home = new Home(asking(['kite'], name));
  const fill = (_, number) => ({ action: 'accept', content: { name: number === 1 ? 'k' : 'kite' } });
  const editor = await home.editor({ can: forms, fill });
  await editor.begin();
  assert.equal(await editor.say('Go'), 'end_turn');
  assert.equal(editor.forms.length, 2);
  assert.match(editor.forms[1].message, /name/);
  assert.match(editor.words(), /Thank you\.$/);
});

test('a question that is declined, dismissed, or filled in wrongly again and again stays', async () => {
  const answers = [{ action: 'decline' }, { action: 'cancel' }, { action: 'accept', content: { name: 'k' } }, { action: 'accept', content: {} }];
  for (const answer of answers) {
    const home = new Home(asking(['kite'], name));
    const editor = await home.editor({ can: forms, fill: () => answer });
    await editor.begin();
    assert.equal(await editor.say('Go'), 'end_turn');
    assert.match(editor.words(), /What is it called\?[^]*\/answer with text answers/);
    if (answer.action === 'accept') {
      assert.equal(editor.forms.length, 4);
      assert.match(editor.words(), /name[^]*\/answer/);
      assert.equal(await editor.say('/answer'), 'end_turn');
      assert.equal(editor.forms.length, 8, 'asked again, it is asked as often again');
    }
    assert.ok(!editor.words().includes('Thank you'), 'nobody answered');
    assert.equal(editor.call('ask_user').status, 'pending');
    assert.equal(await editor.say('/answer kite'), 'end_turn');
    assert.match(editor.words(), /Thank you\.$/);
  }
});

test('without forms a question that can be answered by choosing is asked by options', async () => {
  const home = new Home(asking(['blue'], colour));
  const editor = await home.editor({ permit: ({ options }) => options.find((option) => option.name === 'blue') });
  await editor.begin();
  assert.equal(await editor.say('Go'), 'end_turn');
  const [{ toolCall, options }] = editor.permissions;
  assert.deepEqual(options.map((option) => option.name), ['red', 'blue', 'Answer later']);
  assert.match(toolCall.content[0].content.text, /Which colour\?/);
  assert.match(editor.words(), /Thank you\.$/);
});

test('without forms a question that needs words stays, is shown, and can be answered by typing', async () => {
  const home = new Home(asking(['kite'], name));
  const editor = await home.editor({ permit: choose('allow_once') });
  await editor.begin();
  assert.equal(await editor.say('Go'), 'end_turn');
  assert.deepEqual(editor.permissions, []);
  assert.match(editor.words(), /What is it called\?[^]*\/answer/);
  assert.equal(await editor.say('/answer k'), 'end_turn');
  assert.match(editor.words(), /name[^]*\/answer with text answers[^]*$/);
  assert.equal(await editor.say('/answer kite'), 'end_turn');
  assert.match(editor.words(), /Thank you\.$/);
});

test('a client that can do nothing at all leaves the plan unapproved, over a reload, until the user says so', async () => {
  const home = new Home(lifeCycle, { 'hello.txt': 'Hello\n' });
  const first = await home.editor({ permit: () => new Error('not implemented') });
  await first.begin();
  assert.equal(await first.say('Say goodbye'), 'end_turn');
  assert.match(first.words(), /1\. Write bye\.txt[^]*Accept & Build[^]*\/answer/);
  assert.equal(home.file('bye.txt'), null);
  await first.close();

  const second = await home.editor({ permit: choose('allow_once') });
  await second.load(first.session);
  assert.match(second.words(), /Accept & Build[^]*\/answer/);
  assert.equal(second.permissions.length, 0);
  assert.equal(await second.say('/answer'), 'end_turn');
  assert.equal(second.permissions.length, 1);
  assert.equal(home.file('bye.txt'), 'Goodbye\n');
  assert.match(second.words(), /All done\.$/);
});

test('later is no answer, and a message takes the place of one', async () => {
  const home = new Home({ plan: [{ calls: [ask(colour)] }, { text: 'Green then.', told: ['green'] }] });
  const editor = await home.editor({ permit: choose('reject_once') });
  await editor.begin();
  assert.equal(await editor.say('Go'), 'end_turn');
  assert.match(editor.words(), /\/answer/);
  assert.equal(await editor.say('Make it green'), 'end_turn');
  assert.match(editor.words(), /Green then\.$/);
});

test('several questions are asked one by one by options, and none is stored before the last', async () => {
  const shape = { name: 'shape', question: 'Which shape?', schema: { type: 'boolean' } };
  const home = new Home({ plan: [{ calls: [ask(colour, shape)] }, { text: 'Thank you.', told: ['blue'] }] });
  const permit = ({ options }, editor) => (editor.permissions.length === 1 ? options[1] : editor.permissions.length === 2 ? 'cancelled' : options[1]);
  const editor = await home.editor({ permit });
  await editor.begin();
  assert.equal(await editor.say('Go'), 'end_turn');
  assert.ok(!editor.words().includes('Thank you'));
  assert.equal(await editor.say('/answer'), 'end_turn');
  assert.deepEqual(editor.permissions.map(({ options }) => options.length), [3, 3, 3, 3]);
  assert.match(editor.words(), /Thank you\.$/);
});
