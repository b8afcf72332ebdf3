// The work of a made-up team, in words: plans, answers, questions and files that look like real ones.

const step = (step_number, action, reason, files, estimated_time, verify) => ({ step_number, action, reason, tools_needed: ['edit', 'write'], files, estimated_time, ...(verify ? { verify } : {}) });

/** Twelve steps, thirty-one files. */
export const IDEMPOTENCY = {
  goal: 'Make POST /v1/orders safe to retry',
  estimated_total_time: '80 min',
  steps: [
    step(1, 'Add the idempotency_keys table', 'A key must be unique for each tenant, and rows must expire', ['/migrations/0042_idempotency_keys.sql', '/migrations/0042_idempotency_keys.down.sql'], '4 min'),
    step(2, 'Model the key and its stored response', 'Both handlers need the same type', ['/src/idempotency/mod.rs', '/src/idempotency/key.rs', '/src/idempotency/response.rs'], '6 min'),
    step(3, 'Claim a key and store its response in one transaction', 'Two requests must never both create an order', ['/src/idempotency/claim.rs', '/src/db/tx.rs', '/src/db/mod.rs'], '12 min'),
    step(4, 'Replay stored responses in a middleware', 'Handlers stay as they are', ['/src/http/middleware/idempotency.rs', '/src/http/middleware/mod.rs'], '10 min'),
    step(5, 'Wire it to orders and refunds', 'Refunds have the same fault', ['/src/http/orders/create.rs', '/src/http/refunds/create.rs', '/src/http/router.rs'], '6 min'),
    step(6, 'Answer 409 while the first request runs, 422 for another body', 'Clients must tell a race from a mistake', ['/src/http/error.rs', '/src/http/problem.rs'], '6 min'),
    step(7, 'Delete the in-memory dedupe cache', 'It knows only one process of three', ['/src/dedupe/cache.rs', '/src/dedupe/mod.rs', '/tests/dedupe.rs'], '5 min'),
    step(8, 'Expire keys after 24 hours', 'The table must not grow for ever', ['/src/jobs/expire_keys.rs', '/src/jobs/mod.rs'], '6 min'),
    step(9, 'Count replays and conflicts', 'To see that it works in production', ['/src/metrics.rs', '/dashboards/orders.json'], '4 min'),
    step(10, 'Test with two clients that race', 'The fault was a race', ['/tests/idempotency.rs', '/tests/support/clients.rs', '/tests/support/mod.rs'], '12 min', 'test -d src'),
    step(11, 'Describe the header in OpenAPI and send it from the SDKs', 'Nobody uses what nobody knows', ['/openapi/orders.yaml', '/sdk/typescript/src/orders.ts', '/sdk/python/orders.py', '/docs/retries.md'], '6 min'),
    step(12, 'Write the runbook and the changelog entry', 'On-call needs to know the new table', ['/docs/runbooks/idempotency.md', '/CHANGELOG.md'], '3 min'),
  ],
  risks: ['Two requests can claim the same key between the read and the insert', 'tests/dedupe.rs is the only test of key expiry'],
  prerequisites: ['PostgreSQL 14 or newer'],
};
export const IDEMPOTENCY_ANSWER = `The second order comes from the dedupe cache: \`src/dedupe/cache.rs\` keeps keys in the memory of one process, and you run three replicas. A retry that lands on another replica finds nothing.

- All writes of an order already share one transaction (\`src/db/tx.rs:41\`), so a key can be claimed in it.
- Refunds have the same fault and use the same extractor. Nothing else does.`;

export const REFUNDS = [
  {
    name: 'above_limit',
    question: 'Should refunds over €500 be blocked, or queued for a second approver?',
    context: 'The limit is set for each tenant. Support approves about forty refunds a week above it.',
    schema: { type: 'string', enum: ['queue', 'block'] },
    buttons: [{ label: 'Queue', value: 'queue', description: 'Needs a second_approver column' }, { label: 'Block', value: 'block', description: 'Answer 403 and tell support' }],
  },
  { name: 'notify', question: 'Who hears of a queued refund?', schema: { type: 'array', items: { enum: ['support', 'finance', 'tenant owner'] } } },
];
export const CHINESE_QUESTION = [
  {
    name: 'scope',
    question: '英文文档里有 14 页还没有中文译文，其中 5 页讲的是即将下线的 v1 接口。要把这 5 页也翻译出来，还是只翻译仍在使用的 9 页，并在旧页面顶部放一条指向英文原文的说明？',
    context: 'v1 接口将在三月底下线，之后这些页面会变成只读的归档。',
    schema: { type: 'string', enum: ['仅翻译 9 页', '全部 14 页'] },
  },
];
export const CHINESE_PLAN = {
  goal: '让文档站点的中文页面与英文页面保持同步，并在构建时检查缺失的译文',
  estimated_total_time: '50 min',
  steps: [
    step(1, '为每个页面记录英文原文的提交号', '这样才能知道哪一页的译文已经过时', ['/scripts/stamp.py'], '10 min'),
    step(2, '在构建时列出没有译文或译文过时的页面', '目前只能靠读者来信才发现', ['/scripts/check_translations.py', '/Makefile'], '15 min'),
    step(3, '把检查加入持续集成，先警告，两周后再报错', '给译者留出时间补齐', ['/.github/workflows/docs.yml'], '10 min'),
    step(4, '翻译仍在使用的九个页面', '其余页面会在三月底归档', ['/docs/zh/retries.md', '/docs/zh/webhooks.md', '/docs/zh/limits.md'], '15 min'),
  ],
  risks: ['旧页面的锚点可能改变，站外链接会失效'],
  prerequisites: [],
};

/** A plan of so many plain steps. */
export const plainPlan = (goal, actions, folder = '/src') => ({ goal, estimated_total_time: `${actions.length * 6} min`, steps: actions.map((action, index) => step(index + 1, action, 'It comes next', [`${folder}/**`], '6 min')), risks: [], prerequisites: [] });

/** Code of a made-up module. */
export const moduleText = (name, functions = 3) => `//! ${name}: one part of the service.\n\n${Array.from({ length: functions }, (_, index) => `/// Part ${index + 1} of ${name}.\npub fn ${name}_${index + 1}(input: &str) -> Option<String> {\n    let trimmed = input.trim();\n    if trimmed.is_empty() {\n        return None;\n    }\n    Some(format!("${name}: {trimmed}"))\n}\n`).join('\n')}`;

const PAGES = ['cursor', 'page', 'query', 'filter', 'sort', 'limit', 'token', 'decode', 'encode', 'link_header', 'row', 'index', 'count', 'window', 'bounds', 'tenant', 'params', 'extract', 'respond', 'errors', 'openapi', 'client', 'replay', 'metrics', 'cache', 'trace', 'fixtures', 'support', 'orders', 'refunds', 'shipments'];
/** Thirty-one files of one change. */
export const PAGINATION_FILES = PAGES.map((name, index) => ({ path: `/${index < 22 ? 'src/pagination' : index < 27 ? 'src/http' : 'tests/pagination'}/${name}.rs`, content: moduleText(name, 1 + (index % 4)) }));

/** The files that are there before anybody works. */
export const FILES = {
  'orders-api': {
    'src/dedupe/cache.rs': moduleText('cache', 4),
    'src/db/tx.rs': moduleText('tx', 5),
    'src/http/orders/create.rs': moduleText('create_order', 3),
    'src/http/refunds/create.rs': moduleText('create_refund', 2),
    'src/http/router.rs': moduleText('router', 2),
    'src/pagination/cursor.rs': '//! cursor: not written yet.\n',
    'src/http/cache.rs': moduleText('cache', 2),
  },
  'billing-worker': Object.fromEntries(['dispatch', 'retry', 'sign', 'payload', 'queue', 'legacy'].map((name) => [`src/webhooks/v1/${name}.rs`, moduleText(name, 2)])),
  'storefront-web': { 'package.json': '{\n  "name": "storefront-web",\n  "devDependencies": { "vite": "7.1.0" }\n}\n', 'vite.config.ts': 'export default {};\n', 'src/main.tsx': 'export {};\n' },
  'infra-terraform': { 'modules/network/main.tf': 'terraform {\n  required_version = ">= 1.9"\n}\n', 'modules/database/main.tf': 'terraform {\n  required_version = ">= 1.9"\n}\n' },
  'docs-site': { 'docs/retries.md': '# Retries\n', 'Makefile': 'build:\n\techo ok\n' },
};
