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

/// How many finished chats are listed that nobody has to look at.
const RECENT: usize = 20;
/// How many effects of a call are listed.
const MOST_EFFECTS: usize = 20;

/// Work of all workspaces that the caller sees. The newest 200 chats in progress and the newest 200 finished ones are looked at.
#[derive(Default, JsonSchema, Serialize)]
pub struct Inbox {
    /// Chats whose question the caller can answer; the gravest first, then the newest.
    needs_you: Vec<InboxChat>,
    /// Chats that work, or wait for somebody else.
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
    /// What the caller may do there.
    right: Right,
    title: String,
    config: ChatConfig,
    state: ChatState,
    pinned: bool,
    /// Who began it, on a server with accounts.
    person: Option<String>,
    question: Option<InboxQuestion>,
    progress: Option<InboxProgress>,
    /// What the replies cost so far, in dollars.
    cost: f64,
    /// How many files the chat changed, plans aside; counted when it is finished.
    files: u64,
    /// How many of them the caller has viewed, as they are now.
    viewed: u64,
    updated_at: Timestamp,
}

/// What a chat waits for, in short.
#[derive(JsonSchema, Serialize)]
pub struct InboxQuestion {
    question_id: QuestionId,
    kind: QuestionKind,
    severity: Severity,
    created_at: Timestamp,
    /// The first question, as Markdown.
    text: String,
    /// How many questions there are.
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
    /// How many different paths and globs the steps name.
    files: usize,
}

#[derive(JsonSchema, Serialize)]
pub struct InboxCall {
    tool: String,
    /// Why it is asked about.
    reason: String,
    /// The shell command, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    /// The first 20 of them.
    effects: Vec<InboxEffect>,
    /// How many there are.
    effect_count: usize,
}

#[derive(JsonSchema, Serialize)]
pub struct InboxEffect {
    #[schemars(example = &"delete")]
    effect: String,
    /// The path, where it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
}

/// How far the approved plan has come.
#[derive(JsonSchema, Serialize)]
pub struct InboxProgress {
    done: usize,
    skipped: usize,
    total: usize,
    /// The step in progress.
    current_step: Option<u32>,
    current_action: Option<String>,
}

pub async fn show(State(app): State<App>, caller: Caller) -> ApiResult<Inbox> {
    let (store, user) = (app.sessions.store(), caller.user());
    let active = store.inbox(user, InboxEntry::Active).await?;
    let finished = store.inbox(user, InboxEntry::Finished).await?;
    let mut inbox = Inbox::default();
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
    inbox.needs_you.sort_by_key(InboxChat::gravity);
    for group in [&mut inbox.running, &mut inbox.to_review, &mut inbox.recent] {
        group.sort_by_key(|chat| !chat.pinned);
    }
    Ok(Json(inbox))
}

impl InboxChat {
    /// The gravest question first, then the newest.
    fn gravity(&self) -> Reverse<Option<(Severity, Timestamp)>> {
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
        // A file is read before it is changed.
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
