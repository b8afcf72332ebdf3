//! Plan files: parsed, written, linted and compared.
//!
//! | module | purpose |
//! | --- | --- |
//! | [`check`](mod@check) | plans from JSON, and the checks that types can't express |
//! | `markdown` | [`PlanDocument`]: a whole `.plan` file |
//! | `outline`, `read`, `step`, `text` | parse the text of a file into a plan |
//! | `rewrite` | writes a plan: as a new file, or as changes to a parsed one |
//! | [`frontmatter`] | the YAML at the top of a plan or chat file |
//! | `lint`, `scope` | findings, each with its position |
//! | `progress` | the initial progress of an approved plan |
//!
//! Invariants: parsing and writing a file without a change keeps it byte for byte. Unknown sections and keys are kept.

mod check;
pub mod frontmatter;
mod lint;
mod markdown;
mod outline;
mod progress;
mod read;
mod rewrite;
mod scope;
mod step;
mod text;

pub use check::{check, from_json, slug};
pub use lint::lint;
pub use markdown::{MAX_PLAN_BYTES, PlanDocument};
pub use planwright_protocol::api::plan::{Finding, Gravity};
pub use progress::begin_progress;
pub use read::step_at;
