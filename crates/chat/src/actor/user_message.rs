//! Handles the user's messages, orders to execute, and answers.

use super::plan::CHANGED;
use super::{Actor, OPERATOR};
use crate::chat::Change;
use crate::classifier::{self, Classified};
use crate::comment_text;
use crate::crash;
use crate::images;
use crate::plan;
use planwright_agent::intent::{Intent, Reading, detect};
use planwright_protocol::api::chat::Pending;
use planwright_protocol::event::{QuestionOutcome, Usage};
use planwright_protocol::message::{Answer, CallToApprove, QuestionAnswer, ReviewComment, UserText};
use planwright_protocol::op::{Inquiry, SentImage};
use planwright_protocol::question::Decision;
use planwright_protocol::settings::IntentSwitch;
use planwright_protocol::{
    ErrorCode, Event, Message, Mode, Notice, Problem, QuestionId, QuestionKind, Role, Severity, SwitchedBy, Timestamp,
};
use planwright_question::{answer_text, plan_is_approved, read_stop_decision, validate_answers};
use planwright_store::{ApprovalRow, AuditKind, GrantRow};
use serde_json::{Map, Value, json};

/// The text of a message that has only an image.
const IMAGE_ALONE: &str = "[image]";

/// The meaning of a user message for the plan.
enum Order {
    None,
    /// The rules are undecided. A classifier may decide.
    Unclear,
    /// The user may mean to execute; a click would confirm it.
    Suggested,
    /// The user wants to execute, but there is no plan, or the policy forbids it.
    WithoutPlan(Option<String>),
    Given(Box<ApprovalRow>),
}

impl Actor {
    /// The sender of the current op, if they have an account.
    pub(super) fn account(&self) -> Option<&String> {
        Some(&self.by).filter(|name| *name != OPERATOR)
    }

    /// A message of the sender.
    pub(super) fn said(&self, text: impl Into<String>) -> Message {
        Message::new(self.chat.id, UserText { user: self.account().cloned(), ..UserText::default() }, text)
    }

    pub(super) async fn user_message(
        &mut self,
        mut content: String,
        metadata: Map<String, Value>,
        images: Vec<SentImage>,
        comments: Vec<ReviewComment>,
    ) -> Result<Message, Problem> {
        if !comments.is_empty() {
            comment_text::append(&mut content, &comments);
        }
        if content.trim().is_empty() && !images.is_empty() {
            IMAGE_ALONE.clone_into(&mut content);
        }
        if content.trim().is_empty() {
            return Err(Problem::new(ErrorCode::ValidationFailed, "`content` is empty; write something.")
                .with_details(json!({"fields": {"content": "must not be empty"}})));
        }
        self.chat.check_images(&images, self.chat.record().config.role.mode()).await?;
        let (attached, stored) = images::attach(images)?;
        self.choose_mode(&content).await?;
        let role = self.chat.record().config.role;
        let pending = self.chat.pending();
        let other_question = pending.as_ref().is_some_and(|pending| pending.kind != QuestionKind::PlanApproval);
        // A message with an image or with comments is more than "go ahead".
        let order = if attached.is_empty() && comments.is_empty() { self.order(role, &content, other_question).await } else { Order::None };
        let awaits_plan = matches!(order, Order::WithoutPlan(_));
        let body = UserText { user: self.account().cloned(), images: attached, comments, awaits_plan };
        let mut message = Message::new(self.chat.id, body, content).with_client_metadata(metadata);
        if let Some(pending) = &pending {
            // A message in place of an answer is for the agent that asked.
            message = pending.by.place(message);
        }
        let mut change = self.sent(&message);
        change.versions = Box::new(stored);
        if let Some(pending) = &pending {
            let outcome = match order {
                Order::Given(_) => QuestionOutcome::Answered,
                Order::None | Order::Unclear | Order::Suggested | Order::WithoutPlan(_) => QuestionOutcome::Superseded,
            };
            change = change.event(Event::QuestionResolved { question_id: pending.question_id, outcome });
        }
        let facts = json!({ "message_id": message.id, "source": "rules" });
        let detected = |change: Change| change.log(AuditKind::ExecutionIntentDetected, "", role, facts.clone()).by(self.account());
        match order {
            Order::None => self.publish_and_start(change, &message).await?,
            Order::Unclear => {
                self.publish_and_start(change, &message).await?;
                // Beside the run, which does not wait for it.
                self.classifying = classifier::ask(&self.chat, &message);
            }
            Order::Suggested => {
                let change = detected(change).event(Event::IntentSuggested { message_id: message.id });
                self.publish_and_start(change, &message).await?;
            }
            Order::WithoutPlan(objection) => {
                let text = objection.unwrap_or_else(|| {
                    "There is no plan to execute yet. The agent stays in plan mode, drafts one, and asks for your approval.".to_owned()
                });
                let note = Message::notice(self.chat.id, Notice::Plain, text);
                self.publish_and_start(detected(change).event(Event::MessageCreated { message: note }), &message).await?;
            }
            Order::Given(approval) if !self.was_shown(&approval).await? => {
                let note = Message::notice(self.chat.id, Notice::Plain, CHANGED);
                self.chat.publish(detected(change).event(Event::MessageCreated { message: note }), |_| {}).await?;
                self.raise_card(&approval, None).await?;
            }
            Order::Given(approval) => {
                let change = detected(change).log(AuditKind::ModeSwitchedByIntent, "", role, facts.clone());
                self.approve(change, *approval, None).await?;
            }
        }
        Ok(message)
    }

    /// Asks a question for a tool that the user called.
    pub(super) async fn ask(&mut self, inquiry: Inquiry) -> Result<(), Problem> {
        let pending = self.chat.pending();
        // The card of the same plan is replaced by the current version of the plan.
        let card = pending.as_ref().filter(|pending| matches!(&inquiry, Inquiry::Plan(file) if pending.shows_plan(file)));
        if self.running.is_some() || (pending.is_some() && card.is_none()) {
            let text = "The chat is working or waits for an answer. Ask afterwards, or stop it first.";
            return Err(Problem::new(ErrorCode::Conflict, text));
        }
        match inquiry {
            Inquiry::Questions(questions) => {
                let pending = plan::question_card(&self.chat, self.chat.agent(), questions, Severity::Major).await;
                self.raise(pending, None).await
            }
            Inquiry::Plan(file) => {
                let approval = self.approval(Some(file), SwitchedBy::Approval).await?;
                self.raise_card(&approval, card).await
            }
        }
    }

    /// Only a message that is an order as a whole can approve a plan; anything else can only suggest it. The plan's card does not
    /// count as another question: the order answers it.
    async fn order(&self, role: Role, content: &str, other_question: bool) -> Order {
        let setting = self.chat.settings().intent_switch;
        if role.mode() == Mode::Act || setting == IntentSwitch::Off {
            return Order::None;
        }
        let Reading { intent, suggests_execution } = detect(content);
        let free = !other_question && self.running.is_none();
        match (intent, self.approval(None, SwitchedBy::Intent).await) {
            (Intent::ExecuteNow, Ok(approval)) if setting == IntentSwitch::Switch && free => Order::Given(Box::new(approval)),
            (Intent::ExecuteNow, Ok(_)) => Order::Suggested,
            (Intent::ExecuteNow, Err(problem)) if free => {
                Order::WithoutPlan(problem.details.is_some_and(|details| details["policy"].is_string()).then_some(problem.message))
            }
            (Intent::ExecuteNow, Err(_)) => Order::None,
            (Intent::PlanOnly | Intent::Unclear, Ok(_)) if suggests_execution => Order::Suggested,
            (Intent::Unclear, Ok(_)) if free => Order::Unclear,
            (Intent::PlanOnly | Intent::Unclear, Ok(_) | Err(_)) => Order::None,
        }
    }

    /// Suggests executing the plan if the classifier says so.
    pub(super) async fn suggest(&mut self, classified: Option<Classified>) {
        self.classifying = None;
        let Some(classified) = classified else { return };
        if let Err(problem) = self.record_intent(classified).await {
            tracing::error!(chat = %self.chat.id, %problem, "can't store the intent of a message");
        }
    }

    /// Counts the classifier's usage, and stores its suggestion if it is still useful.
    async fn record_intent(&self, classified: Classified) -> Result<(), Problem> {
        let Classified { message_id, intent, model, usage } = classified;
        let row = self.chat.record();
        let role = row.config.role;
        let newest = self.chat.store.newest_user_message(self.chat.id).await?;
        let is_of_use =
            role.mode() == Mode::Plan && row.activity.pending().is_none() && newest.is_some_and(|message| message.id == message_id);
        let mut change = Change::default();
        if usage != Usage::default() {
            change = change.event(Event::Usage(Usage { context_tokens: row.usage.context_tokens, ..usage }));
        }
        if intent == Intent::ExecuteNow && is_of_use && self.approval(None, SwitchedBy::Intent).await.is_ok() {
            let facts = json!({ "message_id": message_id, "source": "classifier" });
            change = change.log(AuditKind::ExecutionIntentDetected, &model, role, facts).event(Event::IntentSuggested { message_id });
        }
        if change.events.is_empty() {
            return Ok(());
        }
        self.chat.publish(change, move |row| row.usage.count(&usage)).await
    }

    pub(super) async fn answer(
        &mut self,
        question_id: QuestionId,
        answers: Map<String, Value>,
        comment: String,
        metadata: Map<String, Value>,
    ) -> Result<Message, Problem> {
        let pending = self.chat.pending().filter(|pending| pending.question_id == question_id);
        let pending = pending.ok_or_else(|| {
            let text = "This question is no longer pending. Reload the chat to see the pending one.";
            Problem::new(ErrorCode::QuestionNotPending, text)
        })?;
        validate_answers(&pending.questions, &answers)?;
        let text = answer_text(&pending.questions, &answers);
        // Clients may send the text in which the answer is shown anyway.
        let comment = Some(comment).filter(|comment| !comment.trim().is_empty() && *comment != text);
        let question_answer = QuestionAnswer { question_id, answers: answers.clone() };
        let answer = Answer { user: self.account().cloned(), question_answer, comment };
        let message = pending.by.place(Message::new(self.chat.id, answer, text).with_client_metadata(metadata));
        let change = self.sent(&message).event(Event::QuestionResolved { question_id, outcome: QuestionOutcome::Answered });
        match pending.kind {
            QuestionKind::User => self.publish_and_start(change, &message).await?,
            QuestionKind::PlanApproval if plan_is_approved(&answers) => self.accept(change, &pending, &message).await?,
            QuestionKind::PlanApproval => {
                let change = self.logged(change, AuditKind::ApprovalDenied, &pending);
                self.publish_and_start(change, &message).await?;
            }
            QuestionKind::StepStop => self.decide_at_stop(change, &pending, read_stop_decision(&answers), &message).await?,
            QuestionKind::ToolApproval => self.decide(change, &pending, planwright_question::read_decision(&answers), &message).await?,
        }
        crash::point("answer_stored");
        Ok(message)
    }

    /// Approves the card's plan; if the plan has changed since, shows it again.
    async fn accept(&mut self, change: Change, pending: &Pending, answer: &Message) -> Result<(), Problem> {
        let shown = pending.plan.as_ref();
        let approval = self.approval(shown.map(|plan| plan.plan_file.clone()), SwitchedBy::Approval).await?;
        if shown.is_none_or(|plan| plan.sha256 != approval.sha256) {
            self.raise_card(&approval, Some(pending)).await?;
            return Err(Problem::new(ErrorCode::Conflict, CHANGED));
        }
        let change = self.logged(change, AuditKind::ApprovalGiven, pending);
        let comment = answer.body.answer().and_then(|answer| answer.comment.clone());
        self.approve(change, approval, comment).await.map(|_| ())
    }

    async fn decide(&mut self, mut change: Change, pending: &Pending, decision: Decision, message: &Message) -> Result<(), Problem> {
        let kind = match decision {
            Decision::Approve | Decision::ApproveAlways => AuditKind::ApprovalGiven,
            Decision::Deny => AuditKind::ApprovalDenied,
        };
        if let (Decision::ApproveAlways, Some(CallToApprove { grant: Some(tool), folder: Some(folder), .. })) = (decision, &pending.call) {
            // Stored with the answer: the user may decide otherwise if the answer got lost.
            let (at, by) = (Some(Timestamp::now()), Some(self.by.clone()));
            change.grants.push(GrantRow { tool: tool.clone(), folder: folder.clone(), at, by });
        }
        let change = self.logged(change, kind, pending);
        self.publish_and_start(change, message).await
    }

    pub(super) fn logged(&self, change: Change, kind: AuditKind, pending: &Pending) -> Change {
        change
            .log(
                kind,
                "",
                pending.by.role,
                json!({ "question_id": pending.question_id, "kind": pending.kind, "severity": pending.severity, "approver": self.by }),
            )
            .by(self.account())
    }
}
