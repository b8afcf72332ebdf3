// A team in the middle of its work: five workspaces, forty chats in every state, made through the real binary with scripted models.
// Screenshots, pictures and benches share it. Times are moved to a fixed day, and pages look at it with a fixed clock.
import { spawnSync } from 'node:child_process';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CHINESE_PLAN, CHINESE_QUESTION, FILES, IDEMPOTENCY, IDEMPOTENCY_ANSWER, moduleText, PAGINATION_FILES, plainPlan, REFUNDS } from './seed-content.mjs';
import { encode } from './png.mjs';
import { takeCookies, until } from './support.mjs';

/** The moment at which everything is looked at: a Friday. */
export const NOW = Date.parse('2026-01-16T14:00:00Z');
export const PASSWORD = 'the password of the team';
export const PEOPLE = ['mara.lindqvist', 'jon.okafor', 'wei.chen', 'priya.nair'];
const [MARA, JON, WEI, PRIYA] = PEOPLE;
/** Nothing comes of a reply that waits this long for its first word. */
const FOR_EVER = 2 ** 31;
const HANGS = { text: 'Working.', delay_ms: FOR_EVER };
/** For chats that begin later, in a test. Those that run may not have asked for their second reply yet, so it hangs in every script from theirs on. */
const AFTERWARDS = { plan: [{ text: 'Fine.' }, HANGS], act: [{ text: 'Fine.' }, HANGS] };

const HOUR = 60;
const DAY = 24 * HOUR;
const cost = (dollars) => ({ usage: { input_tokens: Math.round(dollars * 40_000), output_tokens: Math.round(dollars * 4_000), cached_tokens: 0, cost: dollars } });
const call = (tool, args) => ({ tool, args });
const write = ({ path, content }) => call('write', { path, content });
const move = (step_number, status) => call('update_step', { step_number, status });

/** A chat that answered a question about the code. */
const answered = (title, dollars) => ({ title, said: `${title}?`, script: { plan: [{ text: 'Let me look.', calls: [call('ls', { path: '/' }), call('glob', { pattern: '**/*' })] }, { text: `${title}: the code does what it should. Nothing needs to change.`, ...cost(dollars) }] } });
/** A chat that changed files. */
const changed = (title, dollars, files) => ({ title, mode: 'act', said: `${title}, please.`, script: { act: [{ text: 'Writing.', calls: files.map(write) }, { text: 'Done. All checks passed.', ...cost(dollars) }] } });
/** A chat with a plan that nobody has executed yet. */
const planned = (title, dollars, plan) => ({ title, said: `${title}, please.`, script: { plan: [{ text: 'I read the code.', calls: [call('write_plan', plan)] }, { text: 'The plan is ready.', ...cost(dollars) }] } });
/** A chat in the middle of its plan, at `calls`. */
const building = (title, dollars, plan, done, calls) => ({
  ...planned(title, dollars, plan),
  executes: true,
  script: {
    plan: planned(title, dollars, plan).script.plan,
    act: [{ text: 'Working through the plan.', calls: [...Array.from({ length: done }, (_, index) => [move(index + 1, 'in_progress'), move(index + 1, 'done')]).flat(), move(done + 1, 'in_progress')] }, calls ? { text: 'Next.', calls } : HANGS],
  },
});
const several = (folder, count) => Array.from({ length: count }, (_, index) => ({ path: `${folder}/part_${index + 1}.rs`, content: moduleText(`part_${index + 1}`) }));
const steps = (count) => Array.from({ length: count }, (_, index) => ['Read the old module', 'Move the query builder', 'Move the ranking', 'Move the tests', 'Change the callers', 'Delete the old module', 'Update the manifest', 'Describe the crate', 'Run everything'][index % 9]);

/** `age` in minutes. The first of each workspace are those that pictures show. */
const CHATS = {
  'orders-api': [
    { key: 'plan', person: MARA, age: 14, title: 'Idempotency keys for POST /v1/orders', said: 'A retry of POST /v1/orders sometimes creates two orders. Make it safe with an Idempotency-Key header. Postgres only, no Redis.', image: 'duplicates-per-hour.png', script: { images: true, plan: [
      { text: 'Let me find where orders are created.', calls: [call('ls', { path: '/' }), call('glob', { pattern: 'src/**/*.rs' }), call('read', { path: '/src/dedupe/cache.rs' }), call('read', { path: '/src/db/tx.rs' }), call('grep', { pattern: 'dedupe' })] },
      { text: IDEMPOTENCY_ANSWER, calls: [call('read', { path: '/src/http/orders/create.rs' }), call('read', { path: '/src/http/refunds/create.rs' }), call('edit', { path: '/src/http/router.rs', old_string: 'router', new_string: 'routes' })] },
      { text: 'One transaction claims the key and stores the response.', calls: [call('write_plan', { path: '/plans/idempotency-keys.plan', ...IDEMPOTENCY })], ...cost(1.84) },
      { text: 'v1 claims the key and stores the response in one transaction, and deletes the old cache only after the new tests pass.', calls: [call('exit_plan_mode', { plan_file_path: '/plans/idempotency-keys.plan' })], usage: { input_tokens: 48_640, output_tokens: 320, cached_tokens: 0, cost: 0 } },
    ] } },
    { key: 'running', person: MARA, age: 18, ...building('Split order search into its own crate', 2.1, plainPlan('Search lives in a crate of its own', steps(9)), 4), runs: true },
    { person: MARA, age: 1, title: 'Slow queries on GET /v1/orders', said: 'Why is GET /v1/orders slow on Mondays?', script: { plan: [{ text: 'Reading.', calls: [call('glob', { pattern: 'src/db/**' }), call('grep', { pattern: 'order by' })] }, HANGS], act: [{ text: 'Nothing.' }, HANGS] }, runs: true },
    { key: 'review', person: MARA, age: HOUR, ...changed('Cursor pagination for GET /v1/orders', 3.26, PAGINATION_FILES), viewed: 11 },
    { key: 'done', person: MARA, age: 4 * HOUR, ...changed('Return 404 for unknown order ids', 0.29, several('/src/missing', 3)), viewed: 3 },
    { person: JON, age: 6 * HOUR, ...planned('Outbox for order events', 0.41, plainPlan('Events leave through an outbox', steps(5))) },
    { person: MARA, age: DAY, ...changed('Tenant header in all log lines', 0.18, several('/src/tenant', 2)), viewed: 2 },
    { person: WEI, age: DAY + 2 * HOUR, ...answered('Why create() is slow on Mondays', 0.22) },
    { key: 'failed', person: MARA, age: DAY + 3 * HOUR, title: 'Bump axum to 0.8', said: 'Move to axum 0.8.', script: { plan: [{ error: 'PROVIDER_REJECTED' }] } },
    { person: JON, age: 2 * DAY, ...answered('Order export as CSV', 0.31) },
    { person: MARA, age: 3 * DAY, ...answered('How refunds find their order', 0.12) },
    { person: MARA, age: 4 * DAY, ...answered('Which indexes nobody uses', 0.27) },
    { person: PRIYA, age: 5 * DAY, ...answered('What a cold start costs', 0.09) },
    { person: MARA, age: 6 * DAY, ...answered('A very long title, as people write them when they paste the whole first line of a stack trace: thread main panicked at src/http/orders/create.rs:118:31 called Option::unwrap on a None value', 0.08) },
  ],
  'billing-worker': [
    { key: 'delete', person: JON, age: 2, ...building('Remove the v1 webhooks', 0.62, plainPlan('Only v2 webhooks are left', ['Move the last tenant', 'Turn v1 off', 'Delete the v1 module', 'Drop the v1 tables', 'Update the docs'], '/src/tenants'), 2, [call('rm', { path: '/src/webhooks/v1', recursive: true })]) },
    { key: 'question', person: MARA, age: 11, title: 'Refund limits per tenant', said: 'Tenants want limits on refunds.', script: { plan: [{ text: 'Two things first.', calls: [call('ask_user', { questions: REFUNDS })], ...cost(0.31) }] } },
    { person: JON, age: 5 * HOUR, ...changed('Rotate the invoice signing key', 0.55, several('/src/signing', 1)), viewed: 1 },
    { person: JON, age: DAY, ...answered('When invoices are sent twice', 0.33) },
    { person: JON, age: 2 * DAY, ...answered('How proration rounds', 0.14) },
    { person: WEI, age: 3 * DAY, ...answered('Tax of digital goods', 0.2) },
    { person: JON, age: 5 * DAY, ...answered('Dunning mails', 0.11) },
    { person: JON, age: 6 * DAY, ...answered('Ledger checks', 0.16) },
  ],
  'storefront-web': [
    { key: 'scope', person: WEI, age: 26, ...building('Move to Vite 8', 0.18, plainPlan('The storefront builds with Vite 8', ['Change the version', 'Mend the plugins', 'Build', 'Compare the bundles', 'Measure', 'Describe', 'Release'], '/config'), 0, [call('write', { path: '/package.json', content: '{\n  "name": "storefront-web",\n  "devDependencies": { "vite": "8.0.0" }\n}\n' })]) },
    { person: WEI, age: 9 * HOUR, ...changed('Cache the product images', 1.12, several('/src/images', 12)), viewed: 12 },
    ...['Keyboard trap in the cart', 'Prices in the tenant currency', 'Smaller product cards', 'Search as you type', 'Empty cart on sign-out', 'Skeletons on the home page', 'Remove the old carousel'].map((title, index) => ({ person: WEI, age: (index + 1) * DAY, ...answered(title, 0.1 + index / 50) })),
  ],
  'infra-terraform': [
    { key: 'terraform', person: PRIYA, age: 6, ...building('Terraform 1.12 in all modules', 0.47, plainPlan('All modules run on Terraform 1.12', ['Change the versions', 'Run terraform validate', 'Plan against staging', 'Apply to staging', 'Apply to production', 'Remove the pins'], '/modules'), 1), runs: true },
    ...['Smaller database replicas', 'Who can read the state bucket', 'Alerts for full disks', 'One VPC for each region'].map((title, index) => ({ person: PRIYA, age: (index + 1) * DAY, ...answered(title, 0.15 + index / 20) })),
  ],
  'docs-site': [
    { key: 'chinese-question', person: WEI, age: 3 * HOUR, title: '让文档站点的中文页面与英文页面保持同步，并在构建时检查缺失的译文', said: '中文文档总是落后于英文文档，读者经常发现已经改名的参数。请制定一个计划，让两种语言的页面保持同步，并且在构建时就能发现缺失或过时的译文。', script: { plan: [{ text: '我先看了一遍文档目录：英文共 62 页，中文共 48 页。开始之前有一个问题。', calls: [call('ask_user', { questions: CHINESE_QUESTION })], ...cost(0.24) }] } },
    { person: WEI, age: 3 * HOUR + 5, ...changed('Dark theme for the status page', 0.74, several('/theme', 7)) },
    { person: WEI, age: 2 * DAY, ...planned('为 Webhook 文档补充重试与签名校验的示例代码', 0.36, CHINESE_PLAN) },
    { person: WEI, age: 5 * DAY, ...answered('Broken links in the guide', 0.07) },
  ],
};

/** Starts the server and has all of this happen. `chats` are those with a key, by it, `others` the rest. */
export async function seedTeam(startServer) {
  const [first, ...others] = Object.keys(CHATS);
  const files = FILES[first];
  const server = await startServer({ model: AFTERWARDS, called: 'anthropic/claude-sonnet-4-5', folder: first, files, args: ['--auth', 'users'], accounts: Object.fromEntries(PEOPLE.map((name) => [name, PASSWORD])) });
  const people = Object.fromEntries(await Promise.all(PEOPLE.map(async (name) => [name, await signIn(server, name)])));
  const admin = people[MARA];
  for (const name of others) {
    for (const [path, content] of Object.entries(FILES[name])) put(join(server.home, name, path), content);
    await admin('/workspaces', 'POST', { path: join(server.home, name) });
  }
  const workspaces = Object.fromEntries((await admin('/workspaces')).map((one) => [one.name, one.id]));
  for (const id of Object.values(workspaces)) for (const name of PEOPLE.slice(1)) await admin(`/workspaces/${id}/members`, 'POST', { name, role: 'member' });
  // One after the other, because each has the model to itself; those that go on running come last.
  const ordered = Object.entries(CHATS).flatMap(([name, chats]) => chats.map((chat) => ({ ...chat, workspace: workspaces[name] }))).toSorted((a, b) => Number(a.runs ?? false) - Number(b.runs ?? false) || b.age - a.age);
  const made = [];
  for (const chat of ordered) made.push(await seedChat(server, people[chat.person], admin, chat));
  play(server, AFTERWARDS);
  await server.stop();
  moveTimes(server, made);
  await server.start();
  return { server, workspaces, people, chats: Object.fromEntries(made.filter((one) => one.key).map((one) => [one.key, one])), others: made.filter((one) => !one.key) };
}

/** The model of whatever run begins next: the script is read when a run begins. */
function play(server, script) {
  writeFileSync(`${server.script}.new`, JSON.stringify(script));
  renameSync(`${server.script}.new`, server.script);
}

async function seedChat(server, ask, viewer, { key, workspace, age, title, said, image, mode, script, executes, runs, viewed = 0 }) {
  play(server, script);
  const chat = await ask(`/workspaces/${workspace}/chats`, 'POST', { title, ...(mode ? { mode } : {}) });
  const path = `/workspaces/${workspace}/chats/${chat.id}`;
  const isAt = (check) => until(async () => check(await ask(path)), title);
  const isOver = (now) => ['idle', 'awaiting_answer', 'failed'].includes(now.state) && (now.usage.output_tokens > 0 || now.state === 'failed');
  const shown = image ? { images: [(await ask(`${path}/images`, 'POST', chart())).id], metadata: { image_names: [image] } } : {};
  await ask(`${path}/messages`, 'POST', { content: said, ...shown });
  await isAt(runs && !executes ? (now) => now.usage.output_tokens > 0 : isOver);
  if (executes) {
    const done = script.act[0].calls.filter((one) => one.args.status === 'done').length;
    await ask(`${path}/execute`, 'POST', {});
    await isAt((now) => now.progress?.done === done && (runs ? now.progress.steps.some((step) => step.status === 'in_progress') : now.pending_question));
  }
  if (viewed > 0) {
    const { total } = await ask(`${path}/changes?summary=true`);
    for (const { path: file, after } of total.files.filter((one) => one.after.kind === 'file').slice(0, viewed)) await viewer(`${path}/viewed`, 'PUT', { path: file, after_sha256: after.sha256, viewed: true });
  }
  return { key, id: chat.id, age, path, url: `${server.url}/w/${workspace}/c/${chat.id}` };
}

const logIn = (server, name) => fetch(`${server.url}/api/v1/auth/login`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ name, password: PASSWORD }) });

/** The API, as somebody with an account calls it. */
async function signIn(server, name) {
  const answer = await logIn(server, name);
  const cookie = answer.headers.getSetCookie()[0].split(';')[0];
  return async (path, method = 'GET', body) => {
    const isImage = Buffer.isBuffer(body);
    const response = await fetch(`${server.url}/api/v1${path}`, { method, headers: { cookie, 'content-type': isImage ? 'image/png' : 'application/json', 'x-planwright-csrf': '1' }, ...(body === undefined ? {} : { body: isImage ? body : JSON.stringify(body) }) });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === '' ? null : JSON.parse(text);
  };
}

/** A picture as people paste them: a line that rises, with its axes. */
function chart() {
  const [width, height] = [496, 240];
  const pixels = Buffer.alloc(width * height * 3, 255);
  const paint = (x, y, colour) => { for (const [dx, dy] of [[0, 0], [1, 0], [0, 1], [1, 1]]) pixels.set(colour, ((y + dy) * width + x + dx) * 3); };
  for (let x = 24; x < width - 24; x += 1) {
    paint(x, height - 30, [150, 156, 166]);
    for (const y of [60, 110, 160]) if (x % 8 < 4) paint(x, y, [226, 228, 232]);
    paint(x, Math.round(170 - 60 * ((x - 24) / (width - 48)) - 38 * Math.abs(Math.sin(x / 34))), [74, 80, 90]);
  }
  return encode({ width, height, pixels });
}

function put(path, content) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

const MOVE = `
import json, sqlite3, sys, uuid
from datetime import datetime, timezone
path, rows = sys.argv[1], json.load(sys.stdin)
base = sqlite3.connect(path, timeout=30)
for row in rows:
    chat, at = uuid.UUID(row["id"]).bytes, row["at"] * 1000
    updated, pending = base.execute("select updated_at, pending from chats where id = ?", (chat,)).fetchone()
    if pending:
        pending = json.loads(pending)
        pending["created_at"] = datetime.fromtimestamp(at / 1e6, timezone.utc).isoformat().replace("+00:00", "Z")
        pending = json.dumps(pending)
    base.execute("update chats set updated_at = ?, created_at = created_at + ?, pending = ? where id = ?", (at, at - updated, pending, chat))
    base.execute("update messages set created_at = created_at + ? where chat_id = ?", (at - updated, chat))
    base.execute("update audit set created_at = created_at + ? where chat_id = ?", (at - updated, chat))
base.commit()
`;

/** Moves each chat to its age before the moment at which it is looked at. */
function moveTimes(server, chats) {
  const rows = chats.map(({ id, age }) => ({ id, at: NOW - age * 60_000 }));
  const done = spawnSync('python3', ['-c', MOVE, join(server.home, 'data/planwright.db')], { input: JSON.stringify(rows) });
  if (done.status !== 0) throw new Error(String(done.stderr));
}

/** A page of somebody in the team, at the fixed moment. */
export async function openAs(newContext, server, name, options = {}) {
  const { context, faults } = await newContext({ viewport: { width: 1440, height: 900 }, timezoneId: 'UTC', reducedMotion: 'reduce', ...options });
  await takeCookies(context, server.url, await logIn(server, name));
  const page = await context.newPage();
  await page.clock.setFixedTime(NOW);
  await page.goto(server.url);
  await page.getByRole('main').getByRole('listitem').first().waitFor();
  return { context, page, faults };
}
