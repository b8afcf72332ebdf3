//! The plan file of a chat.

use crate::message::Message;
use crate::plan::{Plan, PlanFileStatus};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The plan file of a chat.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct PlanFileView {
    #[schemars(example = "/plans/add-a-farewell.plan")]
    pub plan_file: String,
    /// The hash for `execute` and `PUT …/plan`. It does not change with the progress.
    pub sha256: String,
    /// The text of the file.
    pub content: String,
    /// Null if the file can't be parsed as a plan, as are `revision` and `status`.
    pub plan: Option<Plan>,
    pub revision: Option<u32>,
    pub status: Option<PlanFileStatus>,
    pub findings: Vec<PlanFinding>,
    /// The hash of the approved version; null if none is approved.
    pub approved_sha256: Option<String>,
}

/// A finding of the linter.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct PlanFinding {
    #[serde(flatten)]
    pub finding: Finding,
    /// The step that it is about; null for the rest of the plan.
    pub step: Option<u32>,
}

/// One position in a plan file that should be fixed. Line and column count from 1, the column in characters.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct Finding {
    pub line: usize,
    pub column: usize,
    pub message: String,
    pub gravity: Gravity,
}

/// Whether the file is a valid plan nevertheless.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Gravity {
    /// The text can't be parsed as a plan.
    Error,
    /// It can, but may not be what its author meant.
    Warning,
}

impl Finding {
    #[must_use]
    pub fn error(line: usize, column: usize, message: impl Into<String>) -> Finding {
        Finding { line, column, message: message.into(), gravity: Gravity::Error }
    }

    #[must_use]
    pub fn warning(line: usize, column: usize, message: impl Into<String>) -> Finding {
        Finding { line, column, message: message.into(), gravity: Gravity::Warning }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct PlanEditAnswer {
    /// The Plan message that records the version: `metadata` has `plan`, `revision` and `sha256`.
    pub message: Option<Message>,
}
