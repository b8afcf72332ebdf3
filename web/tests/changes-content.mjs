// Thirty-one files that a plan of twelve steps changes, with code that looks like real code.
import { IDEMPOTENCY, moduleText } from './seed-content.mjs';

const CREATE_BEFORE = `use axum::{extract::State, http::StatusCode, Json};
use crate::dedupe::DedupeCache;
use crate::orders::{NewOrder, Order};

/// The largest number of lines in one order.
const MOST_LINES: usize = 500;

#[derive(Clone)]
pub struct Limits {
    pub lines: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { lines: MOST_LINES }
    }
}

/// Creates an order.
///
/// # Errors
/// The order is not valid, or the database is away.
pub async fn create(
    State(app): State<App>,
    State(dedupe): State<DedupeCache>,
    Json(body): Json<NewOrder>,
) -> Result<(StatusCode, Json<Order>), Problem> {
    if let Some(order) = dedupe.get(&body.client_ref) {
        return Ok((StatusCode::OK, Json(order)));
    }
    let order = app.orders.insert(&body).await?;
    dedupe.put(body.client_ref.clone(), order.clone());
    app.events.publish(OrderCreated::from(&order)).await;
    Ok((StatusCode::CREATED, Json(order)))
}
`;
const CREATE_AFTER = CREATE_BEFORE.replace('crate::dedupe::DedupeCache', 'crate::idempotency::{Claim, Key, Replayable}')
  .replace('    State(dedupe): State<DedupeCache>,\n', '    key: Option<Key>,\n')
  .replace(/\) -> Result<[^]*?order\.clone\(\)\);\n/, `) -> Result<Replayable<Order>, Problem> {
    let mut tx = app.db.begin().await?;
    let claim = app.keys.claim(&mut tx, key.as_ref(), &body).await?;
    if let Claim::Replay(stored) = claim {
        return Ok(Replayable::Stored(stored));
    }
    let order = app.orders.insert(&mut tx, &body).await?;
    app.keys.store(&mut tx, &claim, StatusCode::CREATED, &order).await?;
    tx.commit().await?;
`)
  .replace('Ok((StatusCode::CREATED, Json(order)))', 'Ok(Replayable::Fresh(StatusCode::CREATED, order))');

/** Files that are there before. */
const BEFORE = {
  'src/http/orders/create.rs': CREATE_BEFORE,
  ...Object.fromEntries(
    ['src/db/tx.rs', 'src/db/mod.rs', 'src/http/middleware/mod.rs', 'src/http/refunds/create.rs', 'src/http/router.rs', 'src/http/error.rs', 'src/http/problem.rs', 'src/dedupe/cache.rs', 'src/dedupe/mod.rs', 'tests/dedupe.rs', 'src/jobs/mod.rs', 'src/metrics.rs', 'tests/support/mod.rs'].map((path, index) => [path, moduleText(path.split('/').at(-1).replace('.rs', ''), 2 + (index % 3))]),
  ),
  'openapi/orders.yaml': 'paths:\n  /v1/orders:\n    post:\n      operationId: createOrder\n',
  'CHANGELOG.md': '# Changelog\n\n## 4.2.0\n\n- Orders have tags.\n',
};

const GONE = new Set(['src/dedupe/cache.rs', 'src/dedupe/mod.rs', 'tests/dedupe.rs']);
const nameOf = (path) => path.split('/').at(-1).replace(/\.\w+$/, '').replaceAll(/\W/g, '_');
const changedText = (text) => text.replace('let trimmed = input.trim();', 'let trimmed = input.trim_end();').replace('//!', '//! Idempotent.');

function callFor(path) {
  const name = path.slice(1);
  if (GONE.has(name)) return ['rm', { path }];
  const content = name === 'src/http/orders/create.rs' ? CREATE_AFTER : BEFORE[name] === undefined ? moduleText(nameOf(name), 1 + (name.length % 4)) : name.endsWith('.rs') ? changedText(BEFORE[name]) : `${BEFORE[name]}# Idempotency-Key makes a retry safe.\n`;
  return ['write', { path, content }];
}

/** The plan; the files before it; for each step the calls that carry it out. */
export const REVIEWED = {
  plan: IDEMPOTENCY,
  before: BEFORE,
  steps: IDEMPOTENCY.steps.map(({ step_number, files }) => [['update_step', { step_number, status: 'in_progress' }], ...files.map(callFor)]),
};
