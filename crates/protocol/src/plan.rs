//! The plan: one typed truth with two views, the JSON of a Plan message and the `.plan` file.

pub(crate) mod frontmatter;
mod lint;
mod markdown;
mod outline;
mod progress;
mod read;
mod scope;
mod step;
mod text;
mod weave;

pub use lint::{Finding, Gravity, lint};
pub use markdown::{MAX_PLAN_BYTES, PlanDocument, PlanFileStatus, plan_sha256};
pub use progress::{Progress, StepProgress};

use crate::error::{ErrorCode, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What the agent means to do. At least a goal and one step.
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
    /// Paths or globs the step will touch; together they are the plan's scope.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// A command that shows that the step is done.
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

    /// As people say it.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            StepStatus::Pending => "open",
            StepStatus::InProgress => "in progress",
            StepStatus::Done => "done",
            StepStatus::Skipped => "skipped",
        }
    }

    /// Whether nothing is left to do.
    #[must_use]
    pub fn is_over(self) -> bool {
        matches!(self, StepStatus::Done | StepStatus::Skipped)
    }
}

impl Plan {
    /// Reads a plan from JSON and checks it.
    ///
    /// # Errors
    /// `PLAN_INVALID`, with a reason for each field that is wrong.
    pub fn from_json(value: Value) -> Result<Plan, Problem> {
        let plan: Plan = serde_json::from_value(value).map_err(|error| invalid(&[("plan".to_owned(), error.to_string())]))?;
        plan.check()?;
        Ok(plan)
    }

    /// Checks what the types can't say: a goal, at least one step, actions, step numbers 1, 2, 3, …
    ///
    /// # Errors
    /// `PLAN_INVALID`, with a reason for each field that is wrong.
    pub fn check(&self) -> Result<(), Problem> {
        let mut wrong = Vec::new();
        if self.goal.trim().is_empty() {
            wrong.push(("goal".to_owned(), "must say what the plan is for".to_owned()));
        }
        if self.steps.is_empty() {
            wrong.push(("steps".to_owned(), "must have at least one step".to_owned()));
        }
        for (index, step) in self.steps.iter().enumerate() {
            if step.action.trim().is_empty() {
                wrong.push((format!("steps[{index}].action"), "must say what is done".to_owned()));
            }
            if step.step_number as usize != index + 1 {
                wrong.push((format!("steps[{index}].step_number"), format!("must be {}: steps are numbered 1, 2, 3 in order", index + 1)));
            }
        }
        if wrong.is_empty() { Ok(()) } else { Err(invalid(&wrong)) }
    }

    /// Every file or glob the plan names, in order, each once.
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

    /// A file name for the plan, made of its goal.
    #[must_use]
    pub fn slug(&self) -> String {
        let mut slug = String::new();
        for c in self.goal.chars().flat_map(char::to_lowercase) {
            if c.is_alphanumeric() {
                slug.push(c);
            } else if !slug.is_empty() && !slug.ends_with('-') {
                slug.push('-');
            }
            if slug.len() >= 48 {
                break;
            }
        }
        let slug = slug.trim_end_matches('-');
        if slug.is_empty() { "plan".to_owned() } else { slug.to_owned() }
    }
}

fn invalid(wrong: &[(String, String)]) -> Problem {
    let fields: serde_json::Map<String, Value> = wrong.iter().map(|(field, reason)| (field.clone(), reason.clone().into())).collect();
    let reasons = wrong.iter().map(|(field, reason)| format!("`{field}` {reason}")).collect::<Vec<_>>().join("; ");
    Problem::new(ErrorCode::PlanInvalid, format!("The plan does not fit: {reasons}. Send the whole plan again with this mended."))
        .with_details(json!({ "fields": fields }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_needs_a_goal_and_a_step_and_each_fault_is_named() {
        let problem = Plan::from_json(json!({"goal": " ", "steps": [{"step_number": 2, "action": ""}]})).unwrap_err();
        assert_eq!(problem.code, ErrorCode::PlanInvalid);
        let fields = &problem.details.unwrap()["fields"];
        for field in ["goal", "steps[0].action", "steps[0].step_number"] {
            assert!(fields.get(field).is_some(), "{fields}");
        }
        assert!(Plan::from_json(json!({"goal": "x", "steps": []})).is_err());
    }

    #[test]
    fn the_json_of_the_source_document_is_a_plan() {
        let source = json!({
            "goal": "Clear objective statement",
            "steps": [{"step_number": 1, "action": "What will be done", "reason": "Why this is necessary", "tools_needed": ["read"], "estimated_time": "rough estimate"}],
            "estimated_total_time": "total estimate", "risks": ["potential issues"], "prerequisites": ["things user should prepare"]
        });
        let plan = Plan::from_json(source.clone()).unwrap();
        assert_eq!(serde_json::to_value(&plan).unwrap(), source);
    }

    #[test]
    fn a_slug_is_short_and_never_empty() {
        let slug = |goal: &str| Plan { goal: goal.to_owned(), ..Plan::default() }.slug();
        assert_eq!(slug("Add a farewell, please!"), "add-a-farewell-please");
        assert_eq!(slug("../../etc"), "etc");
        assert_eq!(slug("!!!"), "plan");
        assert_eq!(slug("添加告别"), "添加告别");
        assert!(slug(&"word ".repeat(100)).len() <= 52);
    }
}
