use super::files;
use crate::effect::FileEffect;
use crate::gate::Target;
use crate::path::WorkspacePath;
use crate::plan_callers::callers_outside;
use crate::tool::{Category, Input, Output, Prepared, Risk, Signal, Spec, ToolContext};
use planwright_plan::PlanDocument;
use planwright_protocol::message::CommentOutcome;
use planwright_protocol::plan::PlanFileStatus;
use planwright_protocol::{ErrorCode, Permission, Plan, Problem};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// Write the plan, or its next revision, in full. Name each step's files: changes elsewhere ask.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WritePlan {
    #[serde(skip_serializing)]
    path: Option<String>,
    goal: String,
    steps: Vec<Step>,
    #[serde(skip_serializing_if = "Option::is_none")]
    estimated_total_time: Option<String>,
    #[serde(default)]
    risks: Vec<String>,
    #[serde(default)]
    prerequisites: Vec<String>,
    #[serde(default)]
    assumptions: Vec<String>,
    #[serde(default)]
    validation: Vec<String>,
    /// Per comment: {id, outcome: done|declined, note}.
    #[serde(default, skip_serializing)]
    #[schemars(schema_with = "list_of_objects")]
    #[expect(dead_code, reason = "validated here; the chat reads it from the stored call")]
    comments: Vec<CommentResult>,
}

/// The description names the fields: a whole schema would cost every request more.
fn list_of_objects(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": { "type": "object" } })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "validated here; the chat reads it from the stored call")]
struct CommentResult {
    id: String,
    outcome: CommentOutcome,
    #[serde(default)]
    note: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
#[expect(clippy::struct_field_names, reason = "the names are those of the plan's JSON")]
struct Step {
    step_number: u32,
    action: String,
    #[serde(default)]
    reason: String,
    #[serde(default)]
    tools_needed: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    estimated_time: Option<String>,
    #[serde(default)]
    files: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verify: Option<String>,
}

impl Input for WritePlan {
    const SPEC: Spec<'static> = Spec {
        name: "write_plan",
        category: Category::Other,
        risk: Risk::Low,
        read_only: false,
        // A role that may create files may create a plan too, but not change one.
        needs: &[&[Permission::Plan], &[Permission::Create]],
        examples: &[r#"{"goal": "Greet", "steps": [{"step_number": 1, "action": "Add `hi`"}]}"#],
    };

    fn prepare(self, cx: &ToolContext) -> Result<Prepared, Problem> {
        let wanted = self.path.as_deref().map(WorkspacePath::parse_file).transpose()?;
        let value = serde_json::to_value(&self).map_err(|error| Problem::new(ErrorCode::PlanInvalid, error.to_string()))?;
        let plan = planwright_plan::from_json(value)?;
        let path = match wanted.or_else(|| cx.config.active_plan_path.clone()) {
            Some(path) => path,
            None => free_path(cx, &plan)?,
        };
        if !path.is_plan() {
            return Err(Problem::new(
                ErrorCode::NotAPlanFile,
                format!("{path} is not a plan file. Plans are named /plans/NAME.plan; omit `path` to get a new name."),
            ));
        }
        let before = files::present(cx, &path)?;
        let earlier = before.as_ref().and_then(|snapshot| PlanDocument::parse(&String::from_utf8_lossy(&snapshot.bytes)).ok());
        let chat = cx.config.chat.map(|chat| chat.to_string());
        let document = match earlier {
            // Keeps the user's manual additions to the file.
            Some(mut document) => {
                document.plan = plan;
                document.chat = chat;
                document.revision = document.revision.saturating_add(1);
                document.status = PlanFileStatus::Draft;
                document
            }
            None => PlanDocument::new(plan, chat, 1),
        };
        let text = document.render();
        let change = files::change(&path, before.as_ref(), Some(text.as_bytes()));
        let expected = before.map(|snapshot| snapshot.stamp);
        let effect = if expected.is_some() { FileEffect::Write(path.clone()) } else { FileEffect::Create(path.clone()) };
        let cx = cx.clone();
        Ok(Prepared::new(vec![effect], move |permit| {
            cx.workspace.remove_leftovers(&path);
            let stamp = cx.workspace.write(&permit.to_write(&path, Target::of(expected.as_ref()))?, &path, text.as_bytes(), expected)?;
            cx.seen.note(&path, stamp);
            let written = text;
            let text = format!("Wrote revision {} of the plan to {path}. The user sees it now. Call `exit_plan_mode` when it is final, or end your turn to get feedback.", document.revision);
            let findings = callers_outside(&cx.workspace, &cx.config.secrets, &written);
            let text = findings.iter().fold(text, |text, finding| format!("{text}\nWarning: {}.", finding.message));
            Ok(Output::text(text).with("plan_file", path.to_string()).with("revision", document.revision).signalling(Signal::PlanFileChanged(path.clone())))
        })
        .changing(vec![change]))
    }
}

/// An unused name derived from the goal.
fn free_path(cx: &ToolContext, plan: &Plan) -> Result<WorkspacePath, Problem> {
    let slug = planwright_plan::slug(plan);
    for number in 1.. {
        let name = if number == 1 { format!("/plans/{slug}.plan") } else { format!("/plans/{slug}-{number}.plan") };
        let path = WorkspacePath::parse_file(&name)?;
        if !cx.config.foreign_plans.contains(&path) && cx.workspace.entry(&path)?.is_none() {
            return Ok(path);
        }
    }
    Err(Problem::new(ErrorCode::PathExists, "Found no unused name for the plan; give a `path`."))
}
