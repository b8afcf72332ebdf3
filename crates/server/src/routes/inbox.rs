use crate::App;
use crate::answer::ApiResult;
use crate::guard::Caller;
use axum::Json;
use axum::extract::State;
use planwright_chat::{Pending, ProgressView};
use planwright_protocol::event::ChatState;
use planwright_protocol::message::{CallToApprove, EffectShown, PlanToApprove};
use planwright_protocol::{ChatConfig, ChatId, QuestionId, QuestionKind, Severity, StepStatus, Timestamp, WorkspaceId};
use planwright_store::{InboxEntry, InboxRow, Right};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Maximum number of finished chats without anything to review.
const RECENT: usize = 20;
/// Maximum number of listed effects per call.
const MOST_EFFECTS: usize = 20;

/// Chats of all workspaces that the caller can see, out of the newest 200 in progress and the newest 200 finished ones.
#[derive(Default, JsonSchema, Serialize)]
pub struct InboxView {
    /// Chats whose question the caller can answer; the most severe first, then the newest.
    needs_you: Vec<InboxChat>,
    /// Chats that work, or wait for another user.
    running: Vec<InboxChat>,
    /// Finished chats with changed files that the caller has not viewed.
    to_review: Vec<InboxChat>,
    /// Other finished chats, at most 20.
    recent: Vec<InboxChat>,
}

/// A chat as a row of the inbox.
#[derive(JsonSchema, Serialize)]
pub struct InboxChat {
    id: ChatId,
    workspace_id: WorkspaceId,
    #[schemars(example = &"greeter")]
    workspace_name: String,
    /// The caller's right in the workspace.
    right: Right,
    title: String,
    config: ChatConfig,
    state: ChatState,
    pinned: bool,
    /// Who created it, if the server has accounts.
    person: Option<String>,
    question: Option<InboxQuestion>,
    progress: Option<InboxProgress>,
    /// Cost of the replies so far, in dollars.
    cost: f64,
    /// Number of files that the chat changed, without plans; counted when it is finished.
    files: u64,
    /// Number of these whose present content the caller has viewed.
    viewed: u64,
    updated_at: Timestamp,
}

/// The pending question of a chat, shortened.
#[derive(JsonSchema, Serialize)]
pub struct InboxQuestion {
    question_id: QuestionId,
    kind: QuestionKind,
    severity: Severity,
    created_at: Timestamp,
    /// The first question, as Markdown.
    text: String,
    /// Number of questions.
    count: usize,
    /// The plan to approve.
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<InboxPlan>,
    /// The tool call to approve.
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<InboxCall>,
}

#[derive(JsonSchema, Serialize)]
pub struct InboxPlan {
    revision: Option<u64>,
    steps: usize,
    /// Number of different paths and globs in the steps.
    files: usize,
}

#[derive(JsonSchema, Serialize)]
pub struct InboxCall {
    tool: String,
    /// Why it requires approval.
    reason: String,
    /// The shell command, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    /// The first 20 effects.
    effects: Vec<InboxEffect>,
    /// Number of effects.
    effect_count: usize,
}

#[derive(JsonSchema, Serialize)]
pub struct InboxEffect {
    #[schemars(example = &"delete")]
    effect: String,
    /// The path, if the effect has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
}

/// The progress of the approved plan.
#[derive(JsonSchema, Serialize)]
pub struct InboxProgress {
    done: usize,
    skipped: usize,
    total: usize,
    /// The step in progress.
    current_step: Option<u32>,
    current_action: Option<String>,
}

pub async fn show(State(app): State<App>, caller: Caller) -> ApiResult<InboxView> {
    let (store, user) = (app.sessions.store(), caller.user());
    let active = store.inbox(user, InboxEntry::Active).await?;
    let finished = store.inbox(user, InboxEntry::Finished).await?;
    let mut inbox = InboxView::default();
    for chat in active.into_iter().map(InboxChat::from) {
        let is_yours = chat.question.is_some() && chat.right >= Right::Member;
        if is_yours { inbox.needs_you.push(chat) } else { inbox.running.push(chat) }
    }
    for chat in finished.into_iter().map(InboxChat::from) {
        if chat.viewed < chat.files && chat.right >= Right::Member {
            inbox.to_review.push(chat);
        } else if chat.pinned || inbox.recent.len() < RECENT {
            inbox.recent.push(chat);
        }
    }
    inbox.needs_you.sort_by_key(InboxChat::priority);
    for group in [&mut inbox.running, &mut inbox.to_review, &mut inbox.recent] {
        group.sort_by_key(|chat| !chat.pinned);
    }
    Ok(Json(inbox))
}

impl InboxChat {
    /// The most severe question first, then the newest.
    fn priority(&self) -> Reverse<Option<(Severity, Timestamp)>> {
        Reverse(self.question.as_ref().map(|question| (question.severity, question.created_at)))
    }
}

impl From<InboxRow> for InboxChat {
    fn from(InboxRow { chat, workspace_name, right, files, viewed }: InboxRow) -> Self {
        let progress = chat.progress.filter(|progress| chat.config.plan_file.as_ref() == Some(&progress.plan_file));
        let question = chat.pending.and_then(|pending| serde_json::from_value::<Pending>(pending).ok());
        Self {
            id: chat.id,
            workspace_id: chat.workspace_id,
            workspace_name,
            right,
            title: chat.title,
            config: chat.config,
            state: chat.state,
            pinned: chat.marks.pinned,
            person: chat.marks.person,
            question: question.map(InboxQuestion::from),
            progress: progress.map(|progress| InboxProgress::from(ProgressView::from(progress))),
            cost: chat.usage.cost,
            files,
            viewed,
            updated_at: chat.updated_at,
        }
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
