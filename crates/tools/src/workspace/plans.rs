//! Lists the plan files of a workspace.

use super::Workspace;
use crate::path::WorkspacePath;
use planwright_plan::PlanDocument;
use planwright_protocol::{PlanFileStatus, StepStatus};

/// The header of a plan file.
pub struct PlanSummary {
    pub status: PlanFileStatus,
    pub goal: String,
    pub revision: u32,
    pub steps_done: usize,
    pub steps_total: usize,
}

impl Workspace {
    /// `None` if the file is not a valid plan.
    #[must_use]
    pub fn plan_summary(&self, path: &WorkspacePath) -> Option<PlanSummary> {
        let snapshot = self.read_plan(path).ok()?;
        let document = PlanDocument::parse(std::str::from_utf8(&snapshot.bytes).ok()?).ok()?;
        Some(PlanSummary {
            status: document.status,
            revision: document.revision,
            steps_done: document.plan.steps.iter().filter(|step| step.status == StepStatus::Done).count(),
            steps_total: document.plan.steps.len(),
            goal: document.plan.goal,
        })
    }
}
