//! How far the carrying out of an approved plan has come.

use super::{Plan, PlanFileStatus, StepStatus};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The steps of the plan that a chat carries out. Only the server moves them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    pub plan_file: String,
    pub steps: Vec<StepProgress>,
    /// How the plan's file was when it was last told that it is not what was approved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<String>,
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

    /// What the plan's file has to say of it.
    #[must_use]
    pub fn file_status(&self) -> PlanFileStatus {
        if self.steps.iter().all(|step| step.status == StepStatus::Pending) {
            PlanFileStatus::Approved
        } else if self.open().is_empty() {
            PlanFileStatus::Done
        } else {
            PlanFileStatus::InProgress
        }
    }

    /// The numbers of the steps that are neither done nor skipped.
    #[must_use]
    pub fn open(&self) -> Vec<u32> {
        self.steps.iter().filter(|step| !step.status.is_over()).map(|step| step.step_number).collect()
    }

    #[must_use]
    pub fn count(&self, status: StepStatus) -> usize {
        self.steps.iter().filter(|step| step.status == status).count()
    }

    /// The plan with the present status of each step.
    #[must_use]
    pub fn shown_in(&self, mut plan: Plan) -> Plan {
        for (step, known) in plan.steps.iter_mut().zip(&self.steps) {
            step.status = known.status;
        }
        plan
    }
}
