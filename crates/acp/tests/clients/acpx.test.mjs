// acpx, a client that others wrote: one-shot runs, sessions that are loaded again, modes, cancelling.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { BINARY, Home, lifeCycle, write } from './support.mjs';

const ACPX = new URL('node_modules/.bin/acpx', import.meta.url).pathname;

/** Runs acpx to its end; gives the messages of the protocol that it saw. */
const acpx = (home, ...args) => started(home, ...args).done;

function started(home, ...args) {
  const options = ['--cwd', home.workspace, '--agent', `${BINARY} acp`, '--format', 'json', ...args];
  const child = spawn(ACPX, options, { env: home.environment });
  const run = { child, out: '', err: '' };
  child.stdout.on('data', (data) => (run.out += data));
  child.stderr.on('data', (data) => (run.err += data));
  run.done = new Promise((resolve) => child.once('close', resolve)).then((code) => {
    const messages = run.out.trim().split('\n').filter(Boolean).map((line) => JSON.parse(line));
    const updates = messages.filter(({ method }) => method === 'session/update').map(({ params }) => params.update);
    return { code, messages, err: run.err, of: (kind) => updates.filter((update) => update.sessionUpdate === kind) };
  });
  return run;
}

/** Ends the process that acpx keeps running between its commands, and the agent with it. */
async function ended(home) {
  const queues = join(home.folder, '.acpx/queues');
  const { pid } = JSON.parse(readFileSync(join(queues, readdirSync(queues).find((name) => name.endsWith('.lock')))));
  process.kill(pid, 'SIGTERM');
  while (existsSync(`/proc/${pid}`)) await new Promise((resolve) => setTimeout(resolve, 50));
}

test('acpx carries out a plan that is approved', async () => {
  const home = new Home(lifeCycle, { 'hello.txt': 'Hello\n' });
  const { code, messages, of, err } = await acpx(home, '--approve-all', 'exec', 'Say goodbye');
  assert.equal(code, 0, err);
  assert.ok(messages.some(({ method }) => method === 'session/request_permission'));
  assert.deepEqual(of('current_mode_update').map((update) => update.currentModeId), ['build']);
  assert.deepEqual(of('plan').at(-1).entries.map((entry) => entry.status), ['completed', 'completed']);
  assert.equal(home.file('bye.txt'), 'Goodbye\n');
  assert.equal(messages.at(-1).result?.stopReason ?? messages.find(({ result }) => result?.stopReason).result.stopReason, 'end_turn');
});

test('acpx does not carry out a plan that is denied', async () => {
  const home = new Home(lifeCycle, { 'hello.txt': 'Hello\n' });
  const { of } = await acpx(home, '--deny-all', 'exec', 'Say goodbye');
  assert.deepEqual(of('current_mode_update'), []);
  assert.match(of('agent_message_chunk').map((update) => update.content.text).join(''), /Then I plan on\.$/);
  assert.equal(home.file('bye.txt'), null);
});

test('acpx keeps a session, sets its mode, and loads it again when the agent was ended', async () => {
  const home = new Home({ plan: [{ calls: [write('/a.txt', 'no')] }, { text: 'Refused.' }], act: [{ calls: [write('/a.txt', 'yes\n')] }, { text: 'Written.', told: ['Write it', 'Refused.'] }] });
  const sent = async (...args) => {
    const result = await acpx(home, '--approve-all', ...args);
    assert.equal(result.code, 0, `${args}: ${result.err}\n${JSON.stringify(result.messages, null, 1)}`);
    return result;
  };
  await sent('sessions', 'new');
  await sent('prompt', 'Write it');
  assert.equal(home.file('a.txt'), null);
  await sent('set-mode', 'build');
  await ended(home);
  const { of } = await sent('prompt', 'Write it');
  assert.equal(home.file('a.txt'), 'yes\n');
  assert.match(of('agent_message_chunk').map((update) => update.content.text).join(''), /Written\.$/);
  await ended(home);
});

test('acpx cancels a turn, and nothing of it happens afterwards', async () => {
  const home = new Home({ act: [{ text: 'one two three four five six seven eight nine ten', delay_ms: 500, calls: [write('/late.txt', 'x')] }, { text: 'Next.' }] });
  assert.equal((await acpx(home, 'sessions', 'new')).code, 0);
  assert.equal((await acpx(home, 'set-mode', 'build')).code, 0);
  const turn = started(home, '--approve-all', 'prompt', 'Go');
  while (!turn.out.includes('two')) await new Promise((resolve) => turn.child.stdout.once('data', resolve));
  assert.equal((await acpx(home, 'cancel')).code, 0);
  const { messages } = await turn.done;
  assert.ok(messages.some(({ result }) => result?.stopReason === 'cancelled'), JSON.stringify(messages.at(-1)));
  const { code, of, err } = await acpx(home, '--approve-all', 'prompt', 'And now?');
  assert.equal(code, 0, err);
  assert.match(of('agent_message_chunk').map((update) => update.content.text).join(''), /Next\.$/);
  assert.equal(home.file('late.txt'), null);
  await ended(home);
});
