use super::workspaces;
use crate::App;
use crate::answer::ApiResult;
use crate::request::{Body, Ids};
use axum::Json;
use axum::extract::State;
use planwright_chat::lint_plan;
use planwright_protocol::WorkspaceId;
use planwright_protocol::api::plan::Finding;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LintBody {
    /// The text of the `.plan` file.
    #[schemars(example = &"# Say goodbye\n\n## Steps\n\n- [ ] 1. Write the farewell\n")]
    text: String,
}

#[derive(Serialize, JsonSchema)]
pub struct Linted {
    /// In the order of the lines. Contains an error exactly if the text can't be parsed as a plan.
    findings: Vec<Finding>,
}

/// Checks the text of a plan. Stores nothing.
pub async fn lint(State(app): State<App>, Ids(workspace): Ids<WorkspaceId>, Body(body): Body<LintBody>) -> ApiResult<Linted> {
    workspaces::row(&app, workspace).await?;
    let mut findings = lint_plan(&body.text);
    findings.extend(app.sessions.workspaces().callers_outside_plan(workspace, body.text).await?);
    findings.sort_by_key(|finding| (finding.line, finding.column));
    Ok(Json(Linted { findings }))
}
