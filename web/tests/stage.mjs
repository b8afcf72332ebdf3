// The real binary with a scripted model, and a real browser that shows its page.
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';

export const root = new URL('../..', import.meta.url).pathname;
const binary = process.env.PLANWRIGHT_BINARY ?? join(root, 'target/debug/planwright');
const TOKEN = 'a-token-for-tests';
/** Longer than any step takes on a machine that is busy with other things. */
export const PATIENCE = 60_000;
const DESKTOP = { width: 1280, height: 900 };
export const PHONE = { width: 390, height: 844 };

/** One server at one address, which it keeps over restarts, and one browser. */
export class Stage {
  static async set(script, { prepare } = {}) {
    const stage = new Stage();
    stage.home = mkdtempSync(join(tmpdir(), 'planwright-web-'));
    stage.workspace = join(stage.home, 'greeter');
    cpSync(join(root, 'samples/greeter'), stage.workspace, { recursive: true });
    prepare?.(stage.workspace);
    stage.script = join(stage.home, 'script.json');
    writeFileSync(stage.script, JSON.stringify(script));
    stage.listen = `127.0.0.1:${await freePort()}`;
    await stage.start();
    stage.browser = await chromium.launch({
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
    });
    return stage;
  }

  async start() {
    const args = ['serve', '--workspace', this.workspace, '--data-dir', join(this.home, 'data'), '--listen', this.listen, '--model', `script/${this.script}`];
    this.server = spawn(binary, args, { stdio: ['ignore', 'pipe', 'ignore'], env: { ...process.env, PLANWRIGHT_TOKEN: TOKEN } });
    for await (const line of createInterface({ input: this.server.stdout })) if (line.startsWith('listening on ')) return;
    throw new Error('the server did not start');
  }

  /** Ends the server; `SIGKILL` leaves it no time to put anything away. */
  async end(signal = 'SIGTERM') {
    const gone = new Promise((resolve) => this.server.once('exit', resolve));
    this.server.kill(signal);
    await gone;
  }

  async close() {
    await this.browser?.close();
    await this.end();
    rmSync(this.home, { recursive: true, force: true });
  }

  async call(method, path, body) {
    const response = await fetch(`http://${this.listen}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`);
    return answer;
  }

  /** A fresh chat: its path in the API and in the page. */
  async chat(fields = {}) {
    const [{ id }] = await this.call('GET', '/workspaces');
    const chat = await this.call('POST', `/workspaces/${id}/chats`, fields);
    return { api: `/workspaces/${id}/chats/${chat.id}`, page: `/w/${id}/c/${chat.id}` };
  }

  say(chat, content) {
    return this.call('POST', `${chat.api}/messages`, { content });
  }

  snapshot(chat) {
    return this.call('GET', `${chat.api}/snapshot`);
  }

  /** Answers the pending question as another client would. */
  async answer(chat, answers) {
    const { pending_question } = await this.snapshot(chat);
    return this.call('POST', `${chat.api}/messages`, { content: '', metadata: { question_answer: { question_id: pending_question.question_id, answers } } });
  }

  /** A browser of its own: nothing is shared with other contexts. */
  context({ locale = 'en', theme = 'light', size = DESKTOP, ...options } = {}) {
    return this.browser.newContext({ viewport: size, colorScheme: theme, locale: locale === 'zh' ? 'zh-CN' : 'en-US', hasTouch: size.width < 640, isMobile: size.width < 640, ...options });
  }

  /** A tab on a chat. What goes wrong in it is in `faults`. */
  async open(chat, options = {}) {
    const page = await (options.context ?? (await this.context(options))).newPage();
    page.setDefaultTimeout(PATIENCE);
    page.faults = [];
    page.on('pageerror', (error) => page.faults.push(error.message));
    page.on('console', (message) => message.type() === 'error' && !isExpected(message.text()) && page.faults.push(message.text()));
    await page.goto(`http://${this.listen}${chat.page}#token=${TOKEN}`);
    await page.getByRole('textbox', { name: /^(Message|消息)/ }).waitFor();
    return page;
  }
}

/** Browsers log every refused request and every stream that breaks; those that a test provokes are not faults. */
function isExpected(text) {
  return /Failed to load resource: (the server responded with a status of (400|409)|net::ERR_(CONNECTION|INCOMPLETE|EMPTY))/.test(text);
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** The question bar. */
export const barOf = (page) => page.getByRole('region', { name: /^(Question of the agent|智能体的提问)$/ });

/** A scripted reply that asks. */
export const ask = (...questions) => ({ calls: [{ tool: 'ask_user', args: { questions } }] });

/** Screenshots are made only where somebody asks for them. */
export async function picture(page, name) {
  if (!process.env.SCREENSHOTS) return;
  mkdirSync(process.env.SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(process.env.SCREENSHOTS, `${name}.png`) });
}
