//! Questions, with the plan or the tool call to approve.

use super::body::ReplyPart;
use crate::ids::{CallId, QuestionId};
use crate::plan::{Plan, PlanStep};
use crate::question::{Question, QuestionKind, Severity};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A question shown to the user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QuestionCard {
    pub question_id: QuestionId,
    pub questions: Vec<Question>,
    pub kind: QuestionKind,
    pub severity: Severity,
    /// The plan to approve.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanToApprove>,
    /// The call to approve.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallToApprove>,
    #[serde(flatten)]
    pub reply: ReplyPart,
}

/// The plan on an approval card: exactly this content of the plan file.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct PlanToApprove {
    #[schemars(example = "/plans/add-a-farewell.plan")]
    pub plan_file: String,
    pub revision: u32,
    pub sha256: String,
    pub goal: String,
    pub steps: Vec<PlanStep>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated_total_time: Option<String>,
    pub risks: Vec<String>,
    pub prerequisites: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub validation: Vec<String>,
}

impl PlanToApprove {
    #[must_use]
    pub fn new(plan_file: &str, revision: u32, sha256: &str, plan: Plan) -> Self {
        let Plan { goal, steps, estimated_total_time, risks, prerequisites, assumptions, validation } = plan;
        Self {
            plan_file: plan_file.to_owned(),
            revision,
            sha256: sha256.to_owned(),
            goal,
            steps,
            estimated_total_time,
            risks,
            prerequisites,
            assumptions,
            validation,
        }
    }
}

/// A tool call that requires the user's approval.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct CallToApprove {
    pub call_id: CallId,
    #[schemars(example = &"rm")]
    pub tool: String,
    pub args: Option<Value>,
    /// Its effects.
    pub effects: Vec<EffectShown>,
    /// Why it requires approval.
    pub reason: String,
    /// The folder that `approve_always` would cover.
    #[schemars(with = "Option<Value>")]
    pub folder: Option<String>,
    #[serde(default)]
    #[schemars(skip)]
    pub moment: ApprovalMoment,
    /// The key under which `approve_always` would be stored; `None` if every call asks again.
    #[serde(default)]
    #[schemars(skip)]
    pub grant: Option<String>,
}

/// When the approval is requested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalMoment {
    /// Before the call is made.
    #[default]
    Before,
    /// Commands only: after it ran, when its changes are known.
    After,
}

#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct EffectShown {
    #[schemars(example = &"delete")]
    pub effect: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Value>,
}
