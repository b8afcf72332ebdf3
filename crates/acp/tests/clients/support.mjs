// The real binary with a scripted model, as an editor starts it, and the protocol's own client library.
import * as acp from '@agentclientprotocol/sdk';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { after } from 'node:test';

const root = new URL('../../../..', import.meta.url).pathname;
export const BINARY = process.env.PLANWRIGHT_BINARY ?? join(root, 'target/debug/planwright');
/** A busy machine is slow: only what never comes is waited for this long. */
const PATIENCE = 300_000;

const homes = [];
after(() => Promise.all(homes.map((home) => home.end())));

/** A workspace, a data folder and what the model will say. */
export class Home {
  constructor(script, files = {}) {
    this.folder = mkdtempSync(join(tmpdir(), 'planwright-acp-'));
    this.workspace = join(this.folder, 'workspace');
    mkdirSync(this.workspace);
    writeFileSync(join(this.folder, 'script.json'), JSON.stringify(script));
    for (const [path, content] of Object.entries(files)) this.put(path, content);
    this.editors = [];
    homes.push(this);
  }

  /** Its own environment: nothing of the user's configuration counts. */
  get environment() {
    return { PATH: process.env.PATH, HOME: this.folder, PLANWRIGHT_DATA_DIR: join(this.folder, 'data'), PLANWRIGHT_MODEL: `script/${join(this.folder, 'script.json')}` };
  }

  put(path, content) {
    mkdirSync(dirname(join(this.workspace, path)), { recursive: true });
    writeFileSync(join(this.workspace, path), content);
  }

  /** The content of a file of the workspace; null if it is not there. */
  file(path) {
    const file = join(this.workspace, path);
    return existsSync(file) ? readFileSync(file, 'utf8') : null;
  }

  /** An editor that is connected. `can` are its capabilities, `permit` and `fill` what its user does. */
  async editor(options = {}) {
    const editor = new Editor(this, options);
    this.editors.push(editor);
    await editor.connect();
    return editor;
  }

  async end() {
    await Promise.all(this.editors.map((editor) => editor.close()));
    // What acpx leaves running may still write there.
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 50, retryDelay: 100 });
  }
}

export class Editor {
  updates = [];
  /** What was asked by session/request_permission and by elicitation/create. */
  permissions = [];
  forms = [];
  /** Methods of the client that were called although it does not have them. */
  surprises = [];
  stdout = '';
  stderr = '';

  constructor(home, { can = {}, permit = () => 'cancelled', fill = null, environment = {} }) {
    Object.assign(this, { home, can, permit, fill });
    this.process = spawn(BINARY, ['acp'], { cwd: home.folder, env: { ...home.environment, ...environment } });
    this.gone = new Promise((resolve) => this.process.once('exit', (code) => resolve(code)));
    this.process.stderr.on('data', (data) => (this.stderr += data));
    this.process.stdout.on('data', (data) => (this.stdout += data));
    this.waiting = new Set();
  }

  async connect() {
    const app = acp.client({ name: 'planwright-tests' });
    app.onNotification(acp.methods.client.session.update, ({ params }) => this.#note(() => this.updates.push(params.update)));
    app.onRequest(acp.methods.client.session.requestPermission, async ({ params }) => {
      this.#note(() => this.permissions.push(params));
      const option = await this.permit(params, this);
      if (option instanceof Error) throw option;
      return { outcome: option === 'cancelled' ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: option.optionId } };
    });
    if (this.fill) {
      app.onRequest(acp.methods.client.elicitation.create, async ({ params }) => {
        this.#note(() => this.forms.push(params));
        return this.fill(params, this.forms.length);
      });
    }
    app.onRequest('*', ({ method }) => {
      this.surprises.push(method);
      throw acp.RequestError.methodNotFound(method);
    });
    this.connection = app.connect(acp.ndJsonStream(Writable.toWeb(this.process.stdin), Readable.toWeb(this.process.stdout)));
    this.agent = this.connection.agent;
    const { initialize } = acp.methods.agent;
    this.introduction = await this.agent.request(initialize, { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: this.can });
  }

  /** A new session in the workspace. */
  async begin() {
    const session = await this.agent.request(acp.methods.agent.session.new, { cwd: this.home.workspace, mcpServers: [] });
    this.session = session.sessionId;
    return session;
  }

  async load(sessionId, cwd = this.home.workspace) {
    this.session = sessionId;
    return this.agent.request(acp.methods.agent.session.load, { sessionId, cwd, mcpServers: [] });
  }

  /** Sends a prompt; gives its stop reason. */
  async say(prompt) {
    const blocks = typeof prompt === 'string' ? [{ type: 'text', text: prompt }] : prompt;
    const { stopReason } = await this.agent.request(acp.methods.agent.session.prompt, { sessionId: this.session, prompt: blocks });
    return stopReason;
  }

  setMode(modeId) {
    return this.agent.request(acp.methods.agent.session.setMode, { sessionId: this.session, modeId });
  }

  cancel() {
    return this.agent.notify(acp.methods.agent.session.cancel, { sessionId: this.session });
  }

  of(kind) {
    return this.updates.filter((update) => update.sessionUpdate === kind);
  }

  /** All words of the agent so far. */
  words() {
    return this.of('agent_message_chunk').map((update) => update.content.text).join('');
  }

  /** A tool call with all its updates laid over it. */
  call(name) {
    const announced = this.of('tool_call').findLast((call) => call.name === name || call.toolCallId === name);
    const updates = this.of('tool_call_update').filter((update) => update.toolCallId === announced?.toolCallId);
    return announced && Object.assign({ status: 'pending' }, announced, ...updates);
  }

  /** Waits until something holds; looked at whenever anything comes from the agent. */
  async until(condition, what = String(condition)) {
    if (condition(this)) return;
    const { promise, resolve, reject } = Promise.withResolvers?.() ?? withResolvers();
    const look = () => condition(this) && resolve();
    const timer = setTimeout(() => reject(new Error(`it did not come to this: ${what}\n${JSON.stringify(this.updates, null, 1)}\n${this.stderr}`)), PATIENCE);
    this.waiting.add(look);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      this.waiting.delete(look);
    }
  }

  #note(change) {
    change();
    for (const look of this.waiting) look();
  }

  /** Closes as an editor does: by the end of the agent's stdin. Gives the exit code. */
  async close() {
    this.process.stdin.end();
    const late = setTimeout(() => this.process.kill('SIGKILL'), PATIENCE);
    const code = await this.gone;
    clearTimeout(late);
    return code;
  }
}

function withResolvers() {
  const parts = {};
  parts.promise = new Promise((resolve, reject) => Object.assign(parts, { resolve, reject }));
  return parts;
}

/** The user's choice by the kind of the option. */
export const choose = (kind) => ({ options }) => options.find((option) => option.kind === kind);

export const plan = (...files) => ({
  tool: 'write_plan',
  args: {
    goal: 'Say goodbye',
    steps: files.map((file, index) => ({ step_number: index + 1, action: `Write ${file}`, reason: 'It is asked for', tools_needed: ['write'], files: [file] })),
  },
});
export const write = (path, content) => ({ tool: 'write', args: { path, content } });
export const step = (step_number, status) => ({ tool: 'update_step', args: { step_number, status } });
export const exitPlanMode = { tool: 'exit_plan_mode', args: { plan_file_path: '/plans/say-goodbye.plan' } };
export const ask = (...questions) => ({ tool: 'ask_user', args: { questions } });

/** A plan put before the user, then carried out step by step. */
export const lifeCycle = {
  plan: [
    { text: 'Let me plan.', calls: [plan('bye.txt', 'hello.txt')] },
    { calls: [exitPlanMode] },
    { text: 'Then I plan on.', told: ['Keep Planning'] },
  ],
  act: [
    { calls: [step(1, 'in_progress'), write('/bye.txt', 'Goodbye\n'), step(1, 'done')] },
    { calls: [{ tool: 'edit', args: { path: '/hello.txt', old_string: 'Hello', new_string: 'Hi' } }, step(2, 'done')] },
    { text: 'All done.' },
  ],
};
