// A team: members of a workspace by clicks, and what a viewer sees.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { violations } from './axe.mjs';
import { composer, history, newPage, PLAN, startServer, until } from './support.mjs';

const ACCOUNTS = { ann: 'the password of ann', bob: 'the password of bob' };
const ask = { name: 'tone', question: 'Which tone?', schema: { type: 'string', enum: ['friendly', 'formal'] }, buttons: [{ label: 'Friendly', value: 'friendly' }] };
let server, ann, bob, chat;

async function signIn(name) {
  const page = await newPage();
  await page.goto(server.url);
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Password').fill(ACCOUNTS[name]);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('heading', { name: 'Inbox' }).waitFor();
  return page;
}
/** As the page itself would ask. */
const asks = (page, path, method = 'GET', body) =>
  page.evaluate(async ([url, options]) => {
    const response = await fetch(`/api/v1${url}`, { headers: { 'content-type': 'application/json', 'x-planwright-csrf': '1' }, ...options });
    return { status: response.status, answer: await response.json().catch(() => null) };
  }, [path, { method, ...(body ? { body: JSON.stringify(body) } : {}) }]);

before(async () => {
  server = await startServer({
    model: { plan: [{ text: 'A plan.', calls: [{ tool: 'write_plan', args: PLAN }] }, { text: 'One thing.', calls: [{ tool: 'ask_user', args: { questions: [ask] } }] }, { text: 'Fine.' }], repeat: true },
    args: ['--auth', 'users'],
    accounts: ACCOUNTS,
  });
  ann = await signIn('ann');
  const [workspace] = (await asks(ann, '/workspaces')).answer;
  const made = (await asks(ann, `/workspaces/${workspace.id}/chats`, 'POST', { title: 'Shared' })).answer;
  chat = { path: `/workspaces/${workspace.id}/chats/${made.id}`, url: `${server.url}/w/${workspace.id}/c/${made.id}` };
  await asks(ann, `${chat.path}/messages`, 'POST', { content: 'Plan something' });
  await until(async () => (await asks(ann, chat.path)).answer.pending_question, 'the question');
  bob = await signIn('bob');
});

test('an owner shares a workspace: a name that nobody has is told, a right is changed, the last owner stays', async () => {
  await ann.goto(`${server.url}/settings/workspaces`);
  const members = ann.getByRole('region', { name: 'Members' });
  await members.getByText('No members yet').waitFor();
  await members.getByLabel('Name of an account').fill('nobody');
  await members.getByRole('button', { name: 'Add' }).click();
  await members.getByRole('alert').getByText(/planwright user add/).waitFor();
  await members.getByLabel('Name of an account').fill('bob');
  assert.equal(await members.getByLabel('Access', { exact: true }).inputValue(), 'viewer');
  await members.getByLabel('Access', { exact: true }).selectOption('member');
  await members.getByRole('button', { name: 'Add' }).click();
  await members.getByLabel('Access of bob').selectOption('viewer');
  await until(async () => (await asks(ann, `${chat.path.split('/chats')[0]}/members`)).answer.find((one) => one.name === 'bob')?.role === 'viewer', 'the right');
  await members.getByRole('button', { name: 'Remove ann' }).click();
  await ann.getByRole('alert').getByText(/Make somebody its owner first/).waitFor();
});

test('a viewer sees everything and can press nothing that changes something', async () => {
  await bob.reload();
  await bob.getByText('You can view these workspaces.').waitFor();
  assert.ok(await bob.getByRole('button', { name: 'New chat' }).isDisabled());
  assert.ok(await bob.getByRole('button', { name: 'Start' }).isDisabled());
  assert.equal(await bob.getByRole('button', { name: 'Add a folder…' }).count(), 0, 'users add no folders here');
  await bob.keyboard.press('Control+k');
  await bob.getByRole('option', { name: /All chats/ }).waitFor();
  assert.equal(await bob.getByRole('option', { name: /^New chat/ }).count(), 0);
  await bob.keyboard.press('Escape');
  await bob.goto(chat.url);
  await history(bob).getByText('A plan.').waitFor();
  await history(bob).getByRole('article', { name: 'ann' }).getByText('Plan something').waitFor();
  await bob.getByText(/^You can view greeter\./).first().waitFor();
  assert.equal(await composer(bob).count(), 0);
  assert.ok(await bob.getByRole('button', { name: 'Friendly' }).isDisabled());
  assert.ok(await bob.getByRole('radio', { name: 'Build' }).isDisabled());
  assert.equal(await bob.getByRole('button', { name: /^Role/ }).count(), 0);
  assert.deepEqual(await violations(bob), []);
  await bob.keyboard.press('Control+.');
  await bob.getByRole('region', { name: 'Plan', exact: true }).getByText('You can view this workspace.').waitFor();
  assert.equal(await history(bob).getByRole('button', { name: 'Send again' }).count(), 0);
  assert.equal(await bob.getByRole('button', { name: 'Request changes' }).count(), 0);
  await bob.getByRole('button', { name: 'More' }).click();
  await bob.getByRole('menuitemradio').first().waitFor();
  assert.equal(await bob.getByRole('menuitem', { name: 'Rename…' }).count(), 0);
  await bob.keyboard.press('Escape');
  await bob.goto(`${server.url}/settings/modes`);
  await bob.getByText('Only owners can change this.').waitFor();
  assert.ok(await bob.getByRole('radio', { name: /^Build/ }).isDisabled());
  await bob.goto(`${server.url}/settings/models`);
  await bob.getByText('Only server admins can choose models.').waitFor();
  assert.equal((await asks(ann, chat.path)).answer.config.agent_mode, 'plan');
});

test('made a member, the same person can answer', async () => {
  await ann.getByLabel('Access of bob').selectOption('member');
  await until(async () => (await asks(ann, `${chat.path.split('/chats')[0]}/members`)).answer.find((one) => one.name === 'bob')?.role === 'member', 'the right');
  await bob.goto(chat.url);
  await bob.getByRole('button', { name: 'Friendly' }).click();
  await history(bob).getByText('Fine.').waitFor();
});

test('one\'s own account is shown, with tokens that are one\'s own', async () => {
  await ann.goto(`${server.url}/settings/account`);
  await ann.getByText('Signed in as ann').waitFor();
  await ann.getByRole('region', { name: 'Account', exact: true }).getByText('admin', { exact: true }).waitFor();
  await ann.getByLabel('Purpose').fill('build');
  await ann.getByRole('button', { name: 'Create token' }).click();
  await ann.getByText('build', { exact: true }).waitFor();
  await bob.goto(`${server.url}/settings/account`);
  await bob.getByText('Signed in as bob').waitFor();
  await bob.getByText('No tokens yet.').waitFor();
});

test('one changes one\'s own password, and is signed out everywhere else only', async () => {
  const elsewhere = await signIn('bob');
  await bob.goto(`${server.url}/settings/account`);
  await bob.getByRole('button', { name: 'Change password' }).click();
  await bob.getByLabel('Current password').fill('not this');
  await bob.getByLabel('New password').fill(' another password of bob ');
  await bob.keyboard.press('Enter');
  await bob.getByRole('alert').getByText('This is not your current password.').waitFor();
  assert.deepEqual(await violations(bob), []);
  await bob.getByLabel('Current password').fill(ACCOUNTS.bob);
  await bob.keyboard.press('Enter');
  await bob.getByText(/^Password changed\. You are signed out everywhere else/).waitFor();
  assert.equal(await bob.evaluate(() => document.activeElement.textContent), 'Change password');
  ACCOUNTS.bob = ' another password of bob ';
  await bob.reload();
  await bob.getByText('Signed in as bob').waitFor();
  assert.equal(await bob.getByRole('heading', { name: 'Accounts' }).count(), 0, 'those are for admins');
  await elsewhere.reload();
  await elsewhere.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
});

test('an admin makes an account, gives it another password and removes it', async () => {
  await ann.goto(`${server.url}/settings/account`);
  const accounts = ann.getByRole('region', { name: 'Accounts' });
  await accounts.getByText('ann (you)').waitFor();
  await accounts.getByLabel('New name').fill('bob');
  await accounts.getByLabel('First password').fill('first password of eve');
  await accounts.getByRole('button', { name: 'Create account' }).click();
  await accounts.getByRole('alert').getByText(/The account bob already exists/).waitFor();
  await accounts.getByLabel('New name').fill('eve');
  await accounts.getByRole('button', { name: 'Create account' }).dblclick();
  await accounts.getByRole('button', { name: 'New password of eve' }).click();
  await accounts.getByRole('textbox', { name: 'New password of eve' }).fill('second password of eve');
  assert.deepEqual(await violations(ann), []);
  await ann.keyboard.press('Enter');
  await ann.getByText('eve has a new password.').waitFor();
  assert.equal(await ann.evaluate(() => document.activeElement.getAttribute('aria-label')), 'New password of eve');
  assert.equal(await accounts.getByRole('alert').count(), 0, 'two clicks made one account');
  ACCOUNTS.eve = 'second password of eve';
  const eve = await signIn('eve');
  await accounts.getByRole('button', { name: 'Remove eve' }).click();
  await ann.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click();
  await ann.getByText('The account eve is removed.').waitFor();
  await until(async () => (await accounts.getByText('eve', { exact: true }).count()) === 0, 'the account is gone');
  assert.equal(await ann.evaluate(() => document.activeElement.getAttribute('aria-label')), 'Accounts');
  await eve.reload();
  await eve.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
  assert.equal(await accounts.getByRole('button', { name: 'Remove ann' }).count(), 0, 'nobody removes themselves');
});

test('who was signed out meanwhile and presses a button is asked to sign in', async () => {
  await bob.goto(`${server.url}/settings/account`);
  await bob.getByLabel('Purpose').fill('build');
  const over = { status: 401, json: { error: { code: 'UNAUTHENTICATED', message: 'Nobody is signed in.', retryable: false, details: { auth: 'users' } } } };
  for (const path of ['me', 'tokens']) await bob.route(`**/api/v1/${path}`, (route) => route.fulfill(over));
  await bob.getByRole('button', { name: 'Create token' }).click();
  await bob.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
});
