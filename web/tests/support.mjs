// The real binary with a scripted model, and a real browser, for one test file.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync, cpSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { after } from 'node:test';
import { newContext, PATIENCE, takePage } from './browser.mjs';

export { newContext, PATIENCE };

const root = new URL('../..', import.meta.url).pathname;
export const BINARY = process.env.PLANWRIGHT_BINARY ?? join(root, 'target/debug/planwright');
const TOKEN = 'token-of-the-browser-tests';

/**
 * A server over a workspace of its own. `model` is a script of docs/scripted-models.md, the name of a model, or null for none;
 * `called` is the name of a scripted model, such as `anthropic/claude-sonnet-4-5`; `folder` is the name of the workspace; `files` are put into it first; `config` is the user's config.toml; `accounts` are made, with their passwords.
 */
export async function startServer({ model, called, files = {}, config, args = [], accounts = {}, folder = 'greeter' }) {
  const home = mkdtempSync(join(tmpdir(), 'planwright-web-'));
  const workspace = join(home, folder);
  cpSync(join(root, 'samples/greeter'), workspace, { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(workspace, name)), { recursive: true });
    writeFileSync(join(workspace, name), content);
  }
  let name = model;
  const script = join(home, called?.split('/')[1] ?? 'script.json');
  if (model !== null && typeof model === 'object') {
    writeFileSync(script, JSON.stringify(model));
    name = called ?? `script/${script}`;
  }
  const server = new Server(home, workspace, name, args);
  server.script = script;
  const provider = called ? `[providers.${called.split('/')[0]}]\nkind = "script"\npath = "${home}"\n` : '';
  if (config !== undefined || called) server.configure(`${config ?? ''}\n${provider}`);
  for (const [account, password] of Object.entries(accounts)) {
    const added = spawnSync(BINARY, ['user', 'add', account, '--password-stdin'], { input: password, env: { ...process.env, PLANWRIGHT_DATA_DIR: join(home, 'data') } });
    if (added.status !== 0) throw new Error(String(added.stderr));
  }
  servers.push(server);
  await server.start();
  return server;
}

const servers = [];
after(() => Promise.all(servers.map((server) => server.end())));

/** An environment in which no model can be found. */
function withoutModels(home) {
  const kept = Object.entries(process.env).filter(([name]) => !/_API_KEY$|_BASE_URL$|^OLLAMA_HOST$|^XDG_|^PLANWRIGHT_MODEL$/.test(name));
  return { ...Object.fromEntries(kept), HOME: home };
}

class Server {
  #listen = '127.0.0.1:0';

  constructor(home, workspace, model, args) {
    Object.assign(this, { home, workspace, model, args });
  }

  /** Writes the user's own configuration, which is read at the next start. */
  configure(text) {
    mkdirSync(join(this.home, '.config/planwright'), { recursive: true });
    writeFileSync(join(this.home, '.config/planwright/config.toml'), text);
    this.settings = { XDG_CONFIG_HOME: join(this.home, '.config') };
  }

  async start() {
    const options = ['serve', '--workspace', this.workspace, '--data-dir', join(this.home, 'data'), '--listen', this.#listen, ...(this.model === null ? [] : ['--model', this.model]), ...this.args];
    this.process = spawn(BINARY, options, { stdio: ['ignore', 'pipe', process.env.VERBOSE ? 'inherit' : 'ignore'], env: { ...(this.model === null ? withoutModels(this.home) : process.env), ...this.settings, PLANWRIGHT_TOKEN: TOKEN } });
    this.gone = new Promise((resolve) => this.process.once('exit', resolve));
    let isListening = false;
    for await (const line of createInterface({ input: this.process.stdout })) {
      const address = line.match(/^listening on (.*)/)?.[1];
      if (address) this.url = address;
      isListening = line.startsWith('sign in at') || (address !== undefined && this.args.includes('--auth'));
      if (isListening) break;
    }
    if (!isListening) throw new Error(`the server ended before it listened, with ${await this.gone}`);
    this.#listen = new URL(this.url).host;
    this.address = `${this.url}/#token=${TOKEN}`;
  }

  /** Ends it at once or gracefully, without starting it again. */
  async stop(signal = 'SIGTERM') {
    this.process.kill(signal);
    await this.gone;
  }

  async restart(signal) {
    await this.stop(signal);
    await this.start();
  }

  async end() {
    this.process.kill('SIGKILL');
    await this.gone;
    rmSync(this.home, { recursive: true, force: true });
  }

  /** Signs in a browser as its page would, without loading a page for it. */
  async signIn(context) {
    const answer = await fetch(`${this.url}/api/v1/auth/login`, { method: 'POST', headers: { 'content-type': 'application/json', 'x-planwright-csrf': '1' }, body: JSON.stringify({ token: TOKEN }) });
    if (!answer.ok) throw new Error(await answer.text());
    await takeCookies(context, this.url, answer);
  }

  /** The API, as another client would call it. */
  async api(path, method = 'GET', body) {
    const response = await fetch(`${this.url}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = response.status === 204 ? null : await response.json();
    if (!response.ok) throw Object.assign(new Error(answer.error.message), answer.error);
    return answer;
  }

  async workspaceId() {
    return (await this.api('/workspaces'))[0].id;
  }

  /** A chat made by the API, and where the browser finds it. */
  async newChat(body = {}) {
    const chat = await this.api(`/workspaces/${await this.workspaceId()}/chats`, 'POST', body);
    const path = `/workspaces/${chat.workspace_id}/chats/${chat.id}`;
    return { id: chat.id, path, url: `${this.url}/w/${chat.workspace_id}/c/${chat.id}`, say: (content) => this.api(`${path}/messages`, 'POST', { content }) };
  }
}

/** Gives a browser the cookies of an answer. */
export const takeCookies = (context, url, answer) =>
  context.addCookies(answer.headers.getSetCookie().map((line) => {
    const [, name, value] = /^([^=]+)=([^;]*)/.exec(line);
    return { name, value, url };
  }));

/** A page that nobody has signed in on. */
export const newPage = async () => (await takePage()).page;

/** A page that is signed in, at home. */
export async function openBrowser(server, options = {}) {
  const { context, page, faults } = await takePage(options);
  await page.goto(server.address);
  await page.getByRole('heading', { name: /^(Inbox|收件箱)$/ }).waitFor();
  return { context, page, faults };
}

/** Polls until `check` gives something true. */
export async function until(check, what = 'the condition') {
  const deadline = Date.now() + PATIENCE;
  for (;;) {
    const found = await check();
    if (found) return found;
    if (Date.now() > deadline) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export const composer = (page) => page.getByRole('textbox', { name: /^(Message|消息)$/ });
export const history = (page) => page.getByRole('log');

/** Says something in the chat that is open. */
export async function say(page, text) {
  await composer(page).fill(text);
  await composer(page).press('Enter');
}

/** Escape twice, which stops what is in progress. On a busy machine the second key can come too late to count, so they are pressed until it did. */
export async function escapeTwice(page) {
  const stop = page.getByRole('button', { name: 'Stop', exact: true });
  await stop.first().waitFor();
  await until(async () => {
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    return (await stop.count()) === 0;
  }, 'the stop');
}

/** The mode that the page shows: of its colour, its toggle. */
export const shownMode = (page) => page.locator('[role=radiogroup] [aria-checked=true]').getAttribute('data-mode');

/** A plan that writes a file, and its execution. */
export const PLAN = {
  goal: 'Say goodbye as well as hello',
  steps: [{ step_number: 1, action: 'Add a module', reason: 'There is none', tools_needed: ['write'], files: ['src/farewell.rs'] }],
  risks: ['The wording'],
  prerequisites: [],
};
export const words = (count, word = 'word') => Array.from({ length: count }, (_, index) => `${word}${index + 1}`).join(' ');
