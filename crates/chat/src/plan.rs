//! The content of a plan file, and the cards and messages that show it.

use crate::card::plan_approval;
use crate::chat::{Change, Chat};
use crate::drift::planned_files;
use planwright_plan::PlanDocument;
use planwright_protocol::Agent;
use planwright_protocol::api::chat::Pending;
use planwright_protocol::message::{PlanVersion, ReplyPart};
use planwright_protocol::{Event, Message, Mode, Plan, Problem, Question, QuestionKind, Role, Severity};
use planwright_store::{ApprovalRow, AuditKind};
use planwright_tools::WorkspacePath;
use serde_json::json;
use std::sync::Arc;

/// The content of a plan file at one moment.
pub struct StoredPlan {
    pub path: String,
    document: PlanDocument,
    sha256: String,
}

impl StoredPlan {
    /// `None` if the file is missing or not a valid plan.
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

    /// Whether it is the approved plan, whatever its progress.
    pub fn is(&self, approval: &ApprovalRow) -> bool {
        self.path == approval.plan_file && self.sha256 == approval.sha256
    }

    /// The plan as a record of the history, with the current state of the files that it lists.
    pub async fn version(&self, chat: &Arc<Chat>) -> Result<PlanVersion, Problem> {
        Ok(PlanVersion {
            plan: self.document.plan.clone(),
            plan_file: self.path.clone(),
            revision: self.document.revision,
            sha256: self.sha256.clone(),
            files: Some(planned_files(chat, &self.document.plan).await?),
            is_edited: false,
            user: None,
            comments: Vec::new(),
            call_id: None,
            reply: ReplyPart::default(),
        })
    }

    /// The user's version of the plan as an entry of the history; `None` if the history already has it.
    pub async fn user_version(&self, chat: &Arc<Chat>, user: Option<String>) -> Result<Option<Message>, Problem> {
        let newest = self.newest_message(chat).await?;
        if newest.and_then(|message| message.body.plan().map(|version| version.sha256 == self.sha256)).unwrap_or_default() {
            return Ok(None);
        }
        let text = format!(
            "The user edited {}: this is revision {}. Read it again before you continue with it.",
            self.path, self.document.revision
        );
        Ok(Some(Message::new(chat.id, PlanVersion { is_edited: true, user, ..self.version(chat).await? }, text)))
    }

    /// The newest version of this plan in the history.
    pub async fn newest_message(&self, chat: &Chat) -> Result<Option<Message>, Problem> {
        let is_version = |message: &Message| message.body.plan().is_some_and(|version| version.plan_file == self.path);
        Ok(chat.store.landmarks(chat.id).await?.into_iter().rev().find(is_version))
    }

    /// The newest version that the model wrote.
    pub async fn newest_of_model(&self, chat: &Chat) -> Result<Option<Message>, Problem> {
        let is_version =
            |message: &Message| message.body.plan().is_some_and(|version| version.plan_file == self.path && !version.is_edited);
        Ok(chat.store.landmarks(chat.id).await?.into_iter().rev().find(is_version))
    }

    /// The event with the current plan.
    pub fn updated(&self) -> Event {
        Event::PlanUpdated { plan_file: self.path.clone(), plan: self.document.plan.clone() }
    }

    /// The other records of that message.
    pub fn change(&self, role: Role, model: &str) -> Change {
        let facts = json!({"plan_file": self.path, "revision": self.document.revision, "sha256": self.sha256});
        Change::default().event(self.updated()).log(AuditKind::PlanWritten, model, role, facts)
    }

    /// The card that asks for its approval.
    pub fn card(&self, by: Agent, question: Question) -> Pending {
        plan_approval(by, &self.path, &self.document, &self.sha256, question)
    }
}

/// The card for the model's questions. A question that asks to approve the plan becomes the server's own card, with the model's
/// text as a remark.
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
