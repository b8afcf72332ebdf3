// An image that was sent from an editor is seen in the browser.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { BINARY, openBrowser, startServer } from './support.mjs';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

/** A prompt from an editor, in a chat of its own; gives the chat's id. */
async function promptFromEditor(server, prompt) {
  const agent = spawn(BINARY, ['acp', '--data-dir', join(server.home, 'data'), '--model', server.model], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: agent.stdout })[Symbol.asyncIterator]();
  let sent = 0;
  const request = async (method, params) => {
    const id = ++sent;
    agent.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    for (;;) {
      const answer = JSON.parse((await lines.next()).value);
      if (answer.id !== id) continue;
      assert.equal(answer.error, undefined);
      return answer.result;
    }
  };
  await request('initialize', { protocolVersion: 1, clientCapabilities: {} });
  const { sessionId } = await request('session/new', { cwd: server.workspace, mcpServers: [] });
  await request('session/prompt', { sessionId, prompt });
  agent.stdin.end();
  await once(agent, 'exit');
  return sessionId;
}

test('an image that came from an editor stands with the words it came with', async () => {
  const server = await startServer({ model: { images: true, plan: [{ text: 'A pixel.' }] } });
  const workspace = await server.workspaceId();
  await server.stop();
  const chat = await promptFromEditor(server, [{ type: 'text', text: 'What is this?' }, { type: 'image', data: PIXEL, mimeType: 'image/png' }]);
  await server.start();
  const { page, faults } = await openBrowser(server);
  await page.goto(`${server.url}/w/${workspace}/c/${chat}`);
  const image = page.getByRole('article', { name: 'You' }).filter({ hasText: 'What is this?' }).getByRole('img', { name: 'Image 1' });
  await image.waitFor();
  assert.equal(await image.evaluate((shown) => shown.naturalWidth), 1);
  assert.deepEqual(faults, []);
});
