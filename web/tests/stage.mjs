// What the tests of plans, questions and approvals share: a chat by the API, a page on it, and a model that obeys.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { takePage } from './browser.mjs';
import { composer, newContext, startServer, until } from './support.mjs';

export const PHONE = { width: 390, height: 844 };

/** A model that makes the calls it is told to make, and nothing else; in act mode it first says that it is there. */
export const OBEDIENT = { act: [{ text: 'Ready to build.' }], obey: true };

/** One server, spoken to over the API and looked at in a browser. */
export class Stage {
  #faults = new WeakMap();

  static async set(model) {
    const stage = new Stage();
    stage.server = await startServer({ model });
    stage.workspace = stage.server.workspace;
    return stage;
  }

  start() {
    return this.server.start();
  }

  /** Ends the server; `SIGKILL` leaves it no time to put anything away. */
  end(signal) {
    return this.server.stop(signal);
  }

  call(method, path, body) {
    return this.server.api(path, method, body);
  }

  /** A fresh chat: its path in the API, and its page. */
  async chat(fields) {
    const { path, url } = await this.server.newChat(fields);
    return { api: path, url };
  }

  say(chat, content) {
    return this.call('POST', `${chat.api}/messages`, { content });
  }

  /** Has the model ask; it must be one that obeys. */
  ask(chat, ...questions) {
    return this.say(chat, `CALL ask_user ${JSON.stringify({ questions })}`);
  }

  snapshot(chat) {
    return this.call('GET', `${chat.api}/snapshot`);
  }

  /** Answers the pending question as another client would. */
  async answer(chat, answers) {
    const { pending_question } = await this.snapshot(chat);
    return this.call('POST', `${chat.api}/messages`, { content: '', metadata: { question_answer: { question_id: pending_question.question_id, answers } } });
  }

  /** A browser of its own, whose tabs all belong to the test. */
  async context(looks = {}) {
    const { context, faults } = await newContext(optionsOf(looks));
    this.#faults.set(context, faults);
    await this.server.signIn(context);
    return context;
  }

  /** A tab on a chat, in `context` or in a browser without any past. What goes wrong in its browser is in `faults`. */
  async open(chat, { context, ...looks } = {}) {
    const page = context ? await context.newPage() : await this.#takePage(looks);
    page.faults = this.#faults.get(page.context());
    await page.goto(chat.url);
    await composer(page).waitFor();
    return page;
  }

  /** A tab on any address, in a browser without any past. */
  async visit(address, looks = {}) {
    const page = await this.#takePage(looks);
    page.faults = this.#faults.get(page.context());
    await page.goto(address);
    return page;
  }

  async #takePage(looks) {
    const { context, page, faults } = await takePage(optionsOf(looks));
    this.#faults.set(context, faults);
    await this.server.signIn(context);
    return page;
  }
}

/** The browser's options for a language, a theme and the size of a phone. */
function optionsOf({ locale = 'en', theme = 'light', size }) {
  const phone = size === undefined ? {} : { viewport: size, hasTouch: true, isMobile: true };
  return { colorScheme: theme, locale: locale === 'zh' ? 'zh-CN' : 'en-US', ...phone };
}

/** The question bar. */
export const barOf = (page) => page.getByRole('region', { name: /^(Question of the agent|智能体的提问)$/ });

/** Until what is asked has been up long enough to be answered by keys; clicks wait by themselves. */
export const settled = (page) => page.locator('section[data-kind]:not([data-held])').waitFor();

/** Nothing is held back any more, and no colour is on its way: what axe is to look at. */
export const calm = (page) => page.waitForFunction(() => !document.querySelector('[data-held]') && !document.getAnimations().some((one) => one instanceof CSSTransition && one.playState === 'running'));

/** The answers of the newest message that has some. */
export async function givenAnswers(stage, chat) {
  const { messages } = await stage.snapshot(chat);
  return messages.findLast((message) => message.metadata.question_answer)?.metadata.question_answer.answers;
}

/** Until the run is over and everything it did is done. */
export const atRest = (stage, chat) => until(async () => (await stage.snapshot(chat)).chat.state === 'idle', 'the end of the run');

/** Until the question is gone from the page; what follows from the answer may still be under way. */
export const answered = (page) => barOf(page).waitFor({ state: 'detached' });

/** Payloads that would run if anything took them for more than text. */
export const PAYLOADS = ['<img src=x onerror="window.ran=1">', '<script>window.ran=1</script>', '[click](javascript:window.ran=1)', '<svg/onload=window.ran=1>', '"><iframe srcdoc="<script>parent.ran=1</script>">'];

/** Nothing of the payloads ran or became an element. */
export function nothingRan(page) {
  return page.evaluate(() => window.ran === undefined && document.querySelector('img[src="x"], iframe, svg[onload], a[href^="javascript:"]') === null);
}

/** Screenshots are made only where somebody asks for them. */
export async function picture(page, name) {
  if (!process.env.SCREENSHOTS) return;
  mkdirSync(process.env.SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(process.env.SCREENSHOTS, `${name}.png`) });
}
