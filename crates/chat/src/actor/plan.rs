//! Approving a plan: the only way from plan mode to its execution.

use super::{Actor, mode_changed, step_choice, switch};
use crate::action::plan_progress;
use crate::card::plan_approval;
use crate::chat::{Activity, Change, broken};
use crate::crash;
use crate::drift;
use planwright_plan::PlanDocument;
use planwright_protocol::api::chat::Pending;
use planwright_protocol::event::{ChatState, QuestionOutcome};
use planwright_protocol::message::{ApprovalFacts, ApprovalNotice, PlannedFiles};
use planwright_protocol::op::ExpectedPlan;
use planwright_protocol::plan::StepChoice;
use planwright_protocol::{ErrorCode, Event, Message, MessageBody, Mode, Notice, Problem, Progress, QuestionKind, SwitchedBy, Timestamp};
use planwright_store::{ApprovalRow, AuditKind};
use planwright_tools::WorkspacePath;
use serde_json::json;

/// The error if the user executes an older version than the newest.
const OTHER_PLAN: &str = "This is not the newest version of the plan. Reload the chat and review the newest one before you execute it.";

/// The error if the approved content is not the shown one.
pub(super) const CHANGED: &str =
    "The plan has changed since it was shown. A new card shows the current version; review it before you accept.";

impl Actor {
    pub(super) async fn execute(
        &mut self,
        plan_file: Option<String>,
        content: Option<String>,
        expected: ExpectedPlan,
    ) -> Result<Message, Problem> {
        if self.running.is_some() {
            return Err(Problem::new(ErrorCode::Conflict, "A run is in progress. Stop it, or wait for its end, then execute the plan."));
        }
        let mut approval = self.approval(plan_file, SwitchedBy::Approval).await?;
        let was_shown = self.was_shown(&approval).await?;
        let is_expected = expected.sha256.as_ref().map_or(was_shown, |sha256| *sha256 == approval.sha256);
        if !is_expected {
            if !was_shown {
                self.raise_card(&approval, self.chat.pending().as_ref()).await?;
            }
            return Err(Problem::new(ErrorCode::Conflict, if was_shown { OTHER_PLAN } else { CHANGED }));
        }
        approval.choice = step_choice::checked(expected, &approval, self.chat.record().progress.as_ref())?;
        let comment = content.filter(|content| !content.trim().is_empty());
        let mut change = Change::messages(comment.clone().map(|comment| self.said(comment)));
        if let Some(pending) = self.chat.pending() {
            let outcome = if pending.kind == QuestionKind::PlanApproval { QuestionOutcome::Answered } else { QuestionOutcome::Superseded };
            change = change.event(Event::QuestionResolved { question_id: pending.question_id, outcome });
            if pending.by.delegation.is_some() {
                // The chat's own agent gets the approval; a delegate that asked must not wait any longer.
                let text = format!("The user executed {}, which is the answer.", approval.plan_file);
                let note = Message::notice(self.chat.id, Notice::Answered, text);
                change = change.event(Event::MessageCreated { message: pending.by.place(note) });
            }
        }
        self.approve(change, approval, comment).await
    }

    /// The record of the user's approval of the plan's current file.
    pub(super) async fn approval(&self, plan_file: Option<String>, by: SwitchedBy) -> Result<ApprovalRow, Problem> {
        let no_plan = |why: &str| Problem::new(ErrorCode::NoPlan, format!("{why} Ask the agent for a plan first."));
        let row = self.chat.record();
        let plan_file = plan_file.or_else(|| row.config.plan_file.clone()).ok_or_else(|| no_plan("This chat has no plan yet."))?;
        let path = WorkspacePath::parse_file(&plan_file)?;
        if !path.is_plan() {
            return Err(no_plan(&format!("{path} is not a plan: plans are named /plans/NAME.plan.")));
        }
        let workspace = self.chat.workspace.clone();
        let read_path = path.clone();
        let read = tokio::task::spawn_blocking(move || (workspace.read_plan(&read_path), workspace.head_commit()));
        let (snapshot, base_commit) = read.await.map_err(broken)?;
        let gone = || no_plan(&format!("The plan file {path} is missing: it was deleted, moved or reverted."));
        let unread = |problem: Problem| if problem.code == ErrorCode::PathNotFound { gone() } else { no_plan(&problem.message) };
        let snapshot = snapshot.map_err(unread)?;
        let content = String::from_utf8_lossy(&snapshot.bytes).into_owned();
        let document = PlanDocument::parse(&content).map_err(|findings| {
            no_plan(&format!("{path} is not a valid plan: {}", findings.first().map(ToString::to_string).unwrap_or_default()))
        })?;
        if let Some(objection) = self.chat.settings().policy.objection(&document.plan) {
            return Err(Problem::new(ErrorCode::NoPlan, objection).with_details(json!({ "policy": "plan_requires_files" })));
        }
        Ok(ApprovalRow {
            plan_file: path.to_string(),
            revision: document.revision,
            sha256: document.sha256(),
            content,
            approver: self.by.clone(),
            given_by: by,
            base_commit,
            choice: StepChoice::default(),
            at: Timestamp::now(),
        })
    }

    /// Switches to act mode with an approval, and starts.
    pub(super) async fn approve(&mut self, change: Change, approval: ApprovalRow, comment: Option<String>) -> Result<Message, Problem> {
        let limits = approval.choice.text().map(|limits| format!(" {limits}")).unwrap_or_default();
        let text = format!("The user approved revision {} of {}. Execute it now.{limits}", approval.revision, approval.plan_file);
        let progress = step_choice::begin_progress(&approval, self.chat.record().progress.as_ref());
        self.begin_execution(change, approval, progress, (text, comment)).await
    }

    /// Executes an approved plan from this progress on.
    pub(super) async fn begin_execution(
        &mut self,
        mut change: Change,
        approval: ApprovalRow,
        progress: Option<Progress>,
        (text, comment): (String, Option<String>),
    ) -> Result<Message, Problem> {
        // The run that showed the card may still be finishing.
        let interrupted = self.halt().await;
        change.events.splice(0..0, Change::messages(interrupted).events);
        crash::point("approval_unstored");
        let row = self.chat.record();
        let role = if row.config.role.mode() == Mode::Act { row.config.role } else { Mode::Act.default_role() };
        let files = self.planned_files(&approval).await?;
        let ApprovalRow { revision, sha256, base_commit, approver, given_by, .. } = &approval;
        let plan_file = approval.plan_file.clone();
        let facts = ApprovalFacts {
            plan_file: plan_file.clone(),
            revision: *revision,
            sha256: sha256.clone(),
            base_commit: base_commit.clone(),
            approver: approver.clone(),
            by: *given_by,
            choice: approval.choice.clone(),
            comment,
        };
        let notice = ApprovalNotice {
            mode_change: switch(&row, role, approval.given_by),
            approval: facts.clone(),
            begins_with: progress.clone(),
            files: Some(files.clone()),
        };
        let note = Message::notice(row.id, Notice::Approval(Box::new(notice)), text);
        let history = self.chat.store.landmarks(self.chat.id).await?;
        let drifted = drift::note(&self.chat, &approval, &history, &files).map(|message| Event::MessageCreated { message });
        change = change.event(Event::MessageCreated { message: note.clone() });
        change.events.extend(drifted);
        change = change
            .event(mode_changed(&row, role, Some(plan_file.clone()), approval.given_by))
            .log(AuditKind::PlanApproved, "", row.config.role, json!(facts))
            .log(AuditKind::ModeEntered, "", role, json!({ "mode": role.mode(), "by": approval.given_by }))
            .by(self.account())
            .event(Event::StateChanged { state: ChatState::Thinking });
        change.approval = Some(approval);
        change = self.keyed(change, Some(note.id));
        self.chat
            .switch(change, move |row| {
                row.config.role = role;
                row.config.plan_file = Some(plan_file);
                row.progress = progress;
                row.activity.begin_run();
            })
            .await?;
        crash::point("approval_stored");
        plan_progress::mark(&self.chat).await;
        self.start();
        Ok(note)
    }

    /// The current files of the plan that is being approved.
    async fn planned_files(&self, approval: &ApprovalRow) -> Result<PlannedFiles, Problem> {
        match PlanDocument::parse(&approval.content) {
            Ok(document) => drift::planned_files(&self.chat, &document.plan).await,
            Err(_) => Ok(PlannedFiles::default()),
        }
    }

    /// Whether this is the content that the chat showed last. A plan that it never showed, because the user named the file,
    /// counts as seen.
    pub(super) async fn was_shown(&self, approval: &ApprovalRow) -> Result<bool, Problem> {
        let history = self.chat.store.landmarks(self.chat.id).await?;
        let newest = history.iter().rev().filter_map(shown).find(|(plan_file, _)| *plan_file == approval.plan_file);
        Ok(newest.is_none_or(|(_, sha256)| sha256 == approval.sha256))
    }

    /// Shows the plan for approval, replacing an earlier card if there is one.
    pub(super) async fn raise_card(&self, approval: &ApprovalRow, in_place_of: Option<&Pending>) -> Result<(), Problem> {
        let Ok(document) = PlanDocument::parse(&approval.content) else { return Ok(()) };
        let by = match in_place_of {
            Some(earlier) => earlier.by,
            None => self.chat.agent(),
        };
        let pending = plan_approval(by, &approval.plan_file, &document, &approval.sha256, planwright_question::card::plan_approval());
        self.raise(pending, in_place_of).await
    }

    /// Shows a question, replacing an earlier one if there is one.
    pub(super) async fn raise(&self, pending: Pending, in_place_of: Option<&Pending>) -> Result<(), Problem> {
        let resolved =
            in_place_of.map(|earlier| Event::QuestionResolved { question_id: earlier.question_id, outcome: QuestionOutcome::Superseded });
        let mut change = Change { events: resolved.into_iter().collect(), ..Change::default() };
        change = change
            .event(Event::MessageCreated { message: pending.message(self.chat.id) })
            .event(pending.event())
            .event(Event::StateChanged { state: ChatState::AwaitingAnswer });
        change = change.log_question(&pending, "");
        self.chat.publish(change, move |chat| chat.activity = Activity::Waiting(Box::new(pending))).await
    }

    /// The plan that an order without a plan has led to, if any.
    pub(super) async fn ordered_plan(&self) -> Result<Option<ApprovalRow>, Problem> {
        let (store, id) = (&self.chat.store, self.chat.id);
        let order = store.newest_user_message(id).await?.filter(|message| message.body.user_text().is_some_and(|text| text.awaits_plan));
        let Some(order) = order else { return Ok(None) };
        // Ids grow with time, so a plan with a higher id was written after the order.
        let is_drafted = |message: &Message| message.body.plan().is_some() && message.id > order.id;
        if !store.landmarks(id).await?.iter().any(is_drafted) {
            return Ok(None);
        }
        match self.approval(None, SwitchedBy::Approval).await {
            // The agent's plan can't be approved, so there is nothing to ask.
            Err(problem) if problem.code == ErrorCode::NoPlan => Ok(None),
            approval => approval.map(Some),
        }
    }
}

/// The file and the hash of the plan that a message shows: a Plan message, or the approval card.
fn shown(message: &Message) -> Option<(&str, &str)> {
    match &message.body {
        MessageBody::Plan(version) => Some((&version.plan_file, &version.sha256)),
        MessageBody::Question(card) => card.plan.as_ref().map(|plan| (plan.plan_file.as_str(), plan.sha256.as_str())),
        MessageBody::UserText(_)
        | MessageBody::Answer(_)
        | MessageBody::AssistantText(_)
        | MessageBody::ToolCall(_)
        | MessageBody::ToolResult(_)
        | MessageBody::Notice(_)
        | MessageBody::Unknown(_) => None,
    }
}

/// The path of a plan that the user names for the chat; the file need not exist yet.
pub(super) fn named(path: &str) -> Result<WorkspacePath, Problem> {
    let misfit = |wanted: String| {
        let problem = Problem::new(ErrorCode::ValidationFailed, format!("`plan_file` {wanted}."));
        problem.with_details(json!({ "fields": { "plan_file": wanted } }))
    };
    let path = WorkspacePath::parse_file(path).map_err(|problem| misfit(format!("is not a path in the workspace: {}", problem.message)))?;
    if !path.is_plan() {
        return Err(misfit(format!("must be a plan file, /plans/NAME.plan; {path} is not")));
    }
    Ok(path)
}
