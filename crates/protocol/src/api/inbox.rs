//! Chats of all workspaces, grouped by what the user has to do.

use super::chat::{Pending, ProgressView};
use super::workspace::Right;
use crate::config::ChatConfig;
use crate::event::ChatState;
use crate::ids::{ChatId, QuestionId, WorkspaceId};
use crate::message::{CallToApprove, EffectShown, PlanToApprove};
use crate::plan::StepStatus;
use crate::question::{QuestionKind, Severity};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Maximum number of listed effects per call.
const MOST_EFFECTS: usize = 20;

/// Chats of all workspaces that the caller can see, out of the newest 200 in progress and the newest 200 finished ones.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct InboxView {
    /// Chats whose question the caller can answer; the most severe first, then the newest.
    pub needs_you: Vec<InboxChat>,
    /// Chats that work, or wait for another user.
    pub running: Vec<InboxChat>,
    /// Finished chats with changed files that the caller has not viewed.
    pub to_review: Vec<InboxChat>,
    /// Other finished chats, at most 20.
    pub recent: Vec<InboxChat>,
}

/// A chat as a row of the inbox.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct InboxChat {
    pub id: ChatId,
    pub workspace_id: WorkspaceId,
    #[schemars(example = &"greeter")]
    pub workspace_name: String,
    /// The caller's right in the workspace.
    pub right: Right,
    pub title: String,
    pub config: ChatConfig,
    pub state: ChatState,
    pub pinned: bool,
    /// Who created it, if the server has accounts.
    pub person: Option<String>,
    pub question: Option<InboxQuestion>,
    pub progress: Option<InboxProgress>,
    /// Cost of the replies so far, in dollars.
    pub cost: f64,
    /// Number of files that the chat changed, without plans; counted when it is finished.
    pub files: u64,
    /// Number of these whose present content the caller has viewed.
    pub viewed: u64,
    pub updated_at: Timestamp,
}

/// The pending question of a chat, shortened.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct InboxQuestion {
    pub question_id: QuestionId,
    pub kind: QuestionKind,
    pub severity: Severity,
    pub created_at: Timestamp,
    /// The first question, as Markdown.
    pub text: String,
    /// Number of questions.
    pub count: usize,
    /// The plan to approve.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<InboxPlan>,
    /// The tool call to approve.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<InboxCall>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct InboxPlan {
    pub revision: Option<u64>,
    pub steps: usize,
    /// Number of different paths and globs in the steps.
    pub files: usize,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct InboxCall {
    pub tool: String,
    /// Why it requires approval.
    pub reason: String,
    /// The shell command, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The first 20 effects.
    pub effects: Vec<InboxEffect>,
    /// Number of effects.
    pub effect_count: usize,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct InboxEffect {
    #[schemars(example = &"delete")]
    pub effect: String,
    /// The path, if the effect has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// The progress of the approved plan.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct InboxProgress {
    pub done: usize,
    pub skipped: usize,
    pub total: usize,
    /// The step in progress.
    pub current_step: Option<u32>,
    pub current_action: Option<String>,
}

impl InboxChat {
    /// The most severe question first, then the newest.
    #[must_use]
    pub fn priority(&self) -> Reverse<Option<(Severity, Timestamp)>> {
        Reverse(self.question.as_ref().map(|question| (question.severity, question.created_at)))
    }
}

impl From<Pending> for InboxQuestion {
    fn from(pending: Pending) -> Self {
        Self {
            question_id: pending.question_id,
            kind: pending.kind,
            severity: pending.severity,
            created_at: pending.created_at,
            text: pending.questions.first().map(|question| question.question.clone()).unwrap_or_default(),
            count: pending.questions.len(),
            plan: pending.plan.as_ref().map(InboxPlan::of),
            call: pending.call.as_ref().map(InboxCall::of),
        }
    }
}

impl InboxPlan {
    fn of(plan: &PlanToApprove) -> Self {
        let files: BTreeSet<&String> = plan.steps.iter().flat_map(|step| &step.files).collect();
        Self { revision: Some(u64::from(plan.revision)), steps: plan.steps.len(), files: files.len() }
    }
}

impl InboxCall {
    fn of(call: &CallToApprove) -> Self {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let command = |value: Option<&Value>| value.and_then(|value| text(&value["command"]));
        let executed = call.effects.iter().find(|effect| effect.effect == "execute").and_then(|effect| command(effect.target.as_ref()));
        let mut shown: Vec<&EffectShown> =
            call.effects.iter().filter(|effect| effect.effect != "execute" && effect.effect != "keep").collect();
        // A changed file is also read; the change is what matters.
        if shown.iter().any(|effect| effect.effect != "read") {
            shown.retain(|effect| effect.effect != "read");
        }
        let path = |effect: &EffectShown| effect.target.as_ref().and_then(text);
        let first = shown.iter().take(MOST_EFFECTS);
        Self {
            tool: call.tool.clone(),
            reason: call.reason.clone(),
            command: executed.or_else(|| command(call.args.as_ref())),
            effects: first.map(|effect| InboxEffect { effect: effect.effect.clone(), path: path(effect) }).collect(),
            effect_count: shown.len(),
        }
    }
}

impl From<ProgressView> for InboxProgress {
    fn from(ProgressView { done, skipped, total, steps, .. }: ProgressView) -> Self {
        let current = steps.into_iter().find(|step| step.status == StepStatus::InProgress);
        Self {
            done,
            skipped,
            total,
            current_step: current.as_ref().map(|step| step.step_number),
            current_action: current.map(|step| step.action),
        }
    }
}
