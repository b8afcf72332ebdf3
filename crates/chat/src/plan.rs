//! A plan as its file has it: read, stored, told of.

use crate::agent::Agent;
use crate::card::Pending;
use crate::chat::{Change, Chat, broken};
use crate::crash;
use crate::drift::planned_files;
use crate::versions;
use planwright_plan::PlanDocument;
use planwright_protocol::message::{PlanVersion, ReplyPart};
use planwright_protocol::{ErrorCode, Event, Message, MessageId, Mode, Plan, Problem, Question, QuestionKind, Role, Severity};
use planwright_store::{ApprovalRow, AuditKind};
use planwright_tools::tool::tool_named;
use planwright_tools::{Consent, Signal, Verdict, WorkspacePath, decide};
use serde_json::json;
use std::sync::Arc;

/// The content of a plan file at one moment.
pub struct StoredPlan {
    pub path: String,
    document: PlanDocument,
    sha256: String,
}

impl StoredPlan {
    /// `None` when there is no such file, or it is no plan.
    pub async fn read(chat: &Arc<Chat>, path: &WorkspacePath) -> Option<Self> {
        let (workspace, file) = (chat.workspace.clone(), path.clone());
        let snapshot = tokio::task::spawn_blocking(move || workspace.read_plan(&file)).await.ok()?.ok()?;
        let document = PlanDocument::parse(std::str::from_utf8(&snapshot.bytes).ok()?).ok()?;
        Some(Self { path: path.to_string(), sha256: document.sha256(), document })
    }

    pub fn goal(&self) -> &str {
        &self.document.plan.goal
    }

    pub fn plan(&self) -> &Plan {
        &self.document.plan
    }

    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// Whether it is what was approved, however far it has come.
    pub fn is(&self, approval: &ApprovalRow) -> bool {
        self.path == approval.plan_file && self.sha256 == approval.sha256
    }

    /// The plan as a record of the history, with the files that it names as they are now.
    pub async fn version(&self, chat: &Arc<Chat>) -> Result<PlanVersion, Problem> {
        Ok(PlanVersion {
            plan: self.document.plan.clone(),
            plan_file: self.path.clone(),
            revision: self.document.revision,
            sha256: self.sha256.clone(),
            files: Some(planned_files(chat, &self.document.plan).await?),
            is_edited: false,
            call_id: None,
            reply: ReplyPart::default(),
        })
    }

    /// What the user made of the plan by hand, as an entry of the history; nothing where the history has it already.
    pub async fn tell_edit(&self, chat: &Arc<Chat>) -> Result<Option<Message>, Problem> {
        let history = chat.store.landmarks(chat.id).await?;
        let newest = history.iter().rev().filter_map(|message| message.body.plan()).find(|version| version.plan_file == self.path);
        if newest.is_some_and(|version| version.sha256 == self.sha256) {
            return Ok(None);
        }
        let text = format!("The user edited {} by hand. Read it again before you go on with it.", self.path);
        Ok(Some(Message::new(chat.id, PlanVersion { is_edited: true, ..self.version(chat).await? }, text)))
    }

    /// Tells clients how the plan is now.
    pub fn updated(&self) -> Event {
        Event::PlanUpdated { plan_file: self.path.clone(), plan: self.document.plan.clone() }
    }

    /// What goes with that message.
    pub fn change(&self, role: Role, model: &str) -> Change {
        let facts = json!({"plan_file": self.path, "revision": self.document.revision, "sha256": self.sha256});
        Change::default().event(self.updated()).log(AuditKind::PlanWritten, model, role, facts)
    }

    /// The card that asks for its approval.
    pub fn card(&self, by: Agent, question: Question) -> Pending {
        Pending::plan_approval(by, &self.path, &self.document, &self.sha256, question)
    }
}

/// Writes a plan that the model gave as JSON, the same way and under the same rules as `write_plan` does.
/// It is a change of the message that tells it.
pub async fn store(chat: &Arc<Chat>, agent: Agent, plan: Plan, message: MessageId) -> Result<StoredPlan, Problem> {
    let invalid = |error: serde_json::Error| Problem::new(ErrorCode::PlanInvalid, error.to_string());
    let mut args = serde_json::to_value(plan).map_err(invalid)?;
    // Progress is the server's to record, so a new plan has none.
    for step in args["steps"].as_array_mut().into_iter().flatten().filter_map(|step| step.as_object_mut()) {
        step.remove("status");
    }
    let args = args.to_string();
    // Chats that plan the same thing at the same moment go for the same name; the next try takes the next one.
    let earlier = chat.record().config.plan_file.clone();
    for _ in 0..8 {
        match write(chat, agent, &args, message).await {
            Err(problem) if matches!(problem.code, ErrorCode::PathExists | ErrorCode::PlanNotOwned) && earlier.is_none() => {
                name(chat, earlier.clone()).await?;
            }
            Err(problem) => {
                name(chat, earlier).await?;
                return Err(problem);
            }
            Ok(stored) => return Ok(stored),
        }
    }
    write(chat, agent, &args, message).await
}

/// Notes which file is the chat's plan.
async fn name(chat: &Arc<Chat>, plan_file: Option<String>) -> Result<(), Problem> {
    if chat.record().config.plan_file == plan_file {
        return Ok(());
    }
    chat.publish(Change::default(), move |row| row.config.plan_file = plan_file).await
}

async fn write(chat: &Arc<Chat>, agent: Agent, args: &str, message: MessageId) -> Result<StoredPlan, Problem> {
    let tool = tool_named("write_plan")?;
    let (args, cx) = (args.to_owned(), chat.tool_context(agent, None).await?);
    let prepared = tokio::task::spawn_blocking(move || tool.prepare(&args, &cx)).await.map_err(broken)??;
    let permit = match decide(&chat.situation(agent, "write_plan", Consent::Needed).await?, &prepared.effects) {
        Verdict::Allow(permit) => permit,
        Verdict::Deny(problem) => return Err(problem),
        Verdict::Ask(approval) => return Err(Problem::new(ErrorCode::PlanNotApproved, approval.reason)),
    };
    // Before it is written: after a crash the model plans anew, and then this file is taken again, not another one beside it.
    let path = prepared.effects.iter().find_map(|effect| effect.changed_paths().first().map(ToString::to_string));
    let change = Change { versions: Box::new(versions::of(message, &prepared.changes)), ..Change::default() };
    chat.publish(change, move |row| row.config.plan_file = path.or(row.config.plan_file.take())).await?;
    crash::point("plan_intended");
    let output = tokio::task::spawn_blocking(move || prepared.commit(&permit)).await.map_err(broken)?;
    crash::point("plan_written");
    if output.is_err() {
        versions::settle(chat, message).await?;
    }
    let output = output?;
    let gone = || Problem::new(ErrorCode::PlanInvalid, "The plan was written, but can't be read back. Write it again.");
    match output.signal {
        Some(Signal::PlanFileChanged(path)) => StoredPlan::read(chat, &path).await.ok_or_else(gone),
        Some(Signal::Ask(_) | Signal::ExitPlanMode(_) | Signal::Staged | Signal::Reviewed { .. } | Signal::Delegate { .. }) | None => {
            Err(gone())
        }
    }
}

/// The card for questions of the model. A question that asks to approve the plan becomes the server's own card, with the
/// model's words as a remark.
pub async fn question_card(chat: &Arc<Chat>, by: Agent, questions: Vec<Question>, severity: Severity) -> Pending {
    let plan_file = chat.record().config.plan_file.clone();
    if let ([question], Mode::Plan, Some(plan_file)) = (questions.as_slice(), by.role.mode(), plan_file)
        && planwright_question::card::asks_for_plan_approval(question)
        && let Ok(path) = WorkspacePath::parse(&plan_file)
        && let Some(stored) = StoredPlan::read(chat, &path).await
    {
        return stored.card(by, planwright_question::card::plan_approval().with_context(&question.question));
    }
    Pending::new(by, QuestionKind::User, severity, questions)
}
