//! The `.plan` file: YAML frontmatter and Markdown with checkboxes.

use super::Plan;

/// How far a plan has come, as its file says it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanFileStatus {
    #[default]
    Draft,
    Approved,
    InProgress,
    Done,
}

/// A plan file, whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanDocument {
    pub plan: Plan,
    pub status: PlanFileStatus,
    pub chat: Option<String>,
    pub revision: u32,
}
