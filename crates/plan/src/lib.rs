//! Plan files: read, written, linted and compared.
//!
//! | module | what it does |
//! | --- | --- |
//! | [`check`](mod@check) | a plan from JSON, and what its types can't say |
//! | `markdown` | [`PlanDocument`]: the `.plan` file, whole |
//! | `outline`, `read`, `step`, `text` | from the text of a file to the plan |
//! | `rewrite` | from the plan to the text: a new file, or one that was read, with what changed |
//! | [`frontmatter`] | the YAML at the top of a plan or chat file |
//! | `lint`, `scope` | findings, each with its place |
//! | `progress` | where the execution of an approved plan begins |
//!
//! Invariants: a file that is read and written without a change stays the same, byte for byte; sections and keys that
//! we don't know are kept.

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
pub use lint::{Finding, Gravity, lint};
pub use markdown::{MAX_PLAN_BYTES, PlanDocument};
pub use progress::begin_progress;
