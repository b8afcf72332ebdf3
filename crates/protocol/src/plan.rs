//! The plan of a chat and its progress, as data. The crate `plan` reads, writes and checks plan files.

mod choice;
mod progress;

pub use choice::{StepChoice, numbers};
pub use progress::{Progress, StepProgress};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A proposal for work: at least a goal and one step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    pub goal: String,
    pub steps: Vec<PlanStep>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated_total_time: Option<String>,
    #[serde(default)]
    pub risks: Vec<String>,
    #[serde(default)]
    pub prerequisites: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub validation: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanStep {
    pub step_number: u32,
    pub action: String,
    #[serde(default)]
    pub reason: String,
    #[serde(default)]
    pub tools_needed: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated_time: Option<String>,
    /// Paths or globs that the step will touch; together they are the plan's scope.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// A command that proves the step done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify: Option<String>,
    #[serde(default, skip_serializing_if = "StepStatus::is_pending")]
    pub status: StepStatus,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepStatus {
    #[default]
    Pending,
    InProgress,
    Done,
    Skipped,
}

impl StepStatus {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_pending(&self) -> bool {
        *self == StepStatus::Pending
    }

    /// The label for people.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            StepStatus::Pending => "open",
            StepStatus::InProgress => "in progress",
            StepStatus::Done => "done",
            StepStatus::Skipped => "skipped",
        }
    }

    /// Whether nothing is left to do.
    #[must_use]
    pub fn is_finished(self) -> bool {
        matches!(self, StepStatus::Done | StepStatus::Skipped)
    }
}

impl Plan {
    /// Every file or glob that the plan names, in order, without duplicates.
    #[must_use]
    pub fn files(&self) -> Vec<&str> {
        let mut files: Vec<&str> = Vec::new();
        for file in self.steps.iter().flat_map(|step| &step.files) {
            if !files.contains(&file.as_str()) {
                files.push(file);
            }
        }
        files
    }
}

/// The status line of a plan file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlanFileStatus {
    #[default]
    Draft,
    Approved,
    InProgress,
    Done,
}

impl PlanFileStatus {
    pub const ALL: [PlanFileStatus; 4] =
        [PlanFileStatus::Draft, PlanFileStatus::Approved, PlanFileStatus::InProgress, PlanFileStatus::Done];

    /// The word in the file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            PlanFileStatus::Draft => "draft",
            PlanFileStatus::Approved => "approved",
            PlanFileStatus::InProgress => "in_progress",
            PlanFileStatus::Done => "done",
        }
    }

    /// Parses the status word. Case does not matter.
    #[must_use]
    pub fn parse(word: &str) -> Option<PlanFileStatus> {
        PlanFileStatus::ALL.into_iter().find(|status| status.as_str().eq_ignore_ascii_case(word.trim()))
    }
}
