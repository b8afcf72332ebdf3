// acpx, a client that others wrote: one-shot runs, sessions that are loaded again, modes, cancelling.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { BINARY, Home, lifeCycle, write } from './support.mjs';

const ACPX = new URL('node_modules/.bin/acpx', import.meta.url).pathname;

/** Runs acpx to its end; gives the messages of the protocol that it saw. */
async function acpx(home, ...args) {
  const options = ['--cwd', home.workspace, '--agent', `${BINARY} acp`, '--format', 'json', ...args];
  const child = spawn(ACPX, options, { env: home.environment });
  let [out, err] = ['', ''];
  child.stdout.on('data', (data) => (out += data));
  child.stderr.on('data', (data) => (err += data));
  const code = await new Promise((resolve) => child.once('close', resolve));
  const messages = out.trim().split('\n').filter(Boolean).map((line) => JSON.parse(line));
  const updates = messages.filter(({ method }) => method === 'session/update').map(({ params }) => params.update);
  return { code, messages, updates, err, of: (kind) => updates.filter((update) => update.sessionUpdate === kind) };
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

test('acpx keeps a session, sets its mode, and comes back to it', async () => {
  const home = new Home({ plan: [{ calls: [write('/a.txt', 'no')] }, { text: 'Refused.' }], act: [{ calls: [write('/a.txt', 'yes\n')] }, { text: 'Written.' }] });
  const always = ['--approve-all', '--ttl', '1'];
  assert.equal((await acpx(home, 'sessions', 'new')).code, 0);
  const planned = await acpx(home, ...always, 'prompt', 'Write it');
  assert.equal(planned.code, 0, planned.err);
  assert.equal(home.file('a.txt'), null);
  const set = await acpx(home, 'set-mode', 'build');
  assert.equal(set.code, 0, set.err);
  const built = await acpx(home, ...always, 'prompt', 'Write it');
  assert.equal(built.code, 0, built.err);
  assert.equal(home.file('a.txt'), 'yes\n');
  await acpx(home, 'sessions', 'close');
});
