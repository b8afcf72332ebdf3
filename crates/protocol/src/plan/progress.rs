//! The progress of an approved plan.

use super::{Plan, PlanFileStatus, StepChoice, StepStatus};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The steps of the plan under execution. Only the server moves them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    pub plan_file: String,
    pub steps: Vec<StepProgress>,
    /// The hash of the plan file when the server last reported that it differs from the approved plan.
    #[serde(default, rename = "told", skip_serializing_if = "Option::is_none")]
    pub reported_file: Option<String>,
    /// The steps that the user approved.
    #[serde(default, skip_serializing_if = "StepChoice::is_everything")]
    pub choice: StepChoice,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepProgress {
    pub step_number: u32,
    pub action: String,
    pub status: StepStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Progress {
    pub fn set(&mut self, step_number: u32, status: StepStatus) {
        if let Some(step) = self.steps.iter_mut().find(|step| step.step_number == step_number) {
            step.status = status;
        }
    }

    /// The status line for the plan file.
    #[must_use]
    pub fn file_status(&self) -> PlanFileStatus {
        if self.steps.iter().all(|step| step.status == StepStatus::Pending) {
            PlanFileStatus::Approved
        } else if self.open_steps().is_empty() {
            PlanFileStatus::Done
        } else {
            PlanFileStatus::InProgress
        }
    }

    /// The numbers of the steps that are neither done nor skipped.
    #[must_use]
    pub fn open_steps(&self) -> Vec<u32> {
        self.steps.iter().filter(|step| !step.status.is_finished()).map(|step| step.step_number).collect()
    }

    /// The steps that the agent may work on now, and that are neither done nor skipped.
    #[must_use]
    pub fn open_allowed_steps(&self) -> Vec<u32> {
        self.choice.open_steps(self)
    }

    #[must_use]
    pub fn count(&self, status: StepStatus) -> usize {
        self.steps.iter().filter(|step| step.status == status).count()
    }

    /// The plan with the present status of each step.
    #[must_use]
    pub fn apply_to(&self, mut plan: Plan) -> Plan {
        for (step, known) in plan.steps.iter_mut().zip(&self.steps) {
            step.status = known.status;
        }
        plan
    }
}
