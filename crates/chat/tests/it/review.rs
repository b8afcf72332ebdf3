//! Reviews as the server enforces them: chosen steps, stops, edits of the plan, comments, reverts by file, approval cards.

mod approvals;
mod ground;
mod plan_edits;
mod reverts;
mod steps;
