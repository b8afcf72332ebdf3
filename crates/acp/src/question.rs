//! Asks the user questions through the client: with a form if it has forms, otherwise with options.
//!
//! Only the user answers. If the client can't ask, or the user dismisses the question, it stays pending.

use crate::calls;
use crate::form::Form;
use crate::plan;
use agent_client_protocol::Client;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    CreateElicitationRequest, ElicitationAction, ElicitationFormMode, ElicitationSessionScope, PermissionOption, PermissionOptionKind,
    RequestPermissionOutcome, RequestPermissionRequest, SessionId, ToolCall, ToolCallId, ToolCallStatus, ToolCallUpdate,
    ToolCallUpdateFields, ToolKind,
};
use planwright_protocol::api::chat::Pending;
use planwright_protocol::message::PlanToApprove;
use planwright_protocol::question::{Decision, StopDecision};
use planwright_protocol::{Question, QuestionKind};
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// The option that postpones a question.
const LATER: &str = "later";

/// The state needed for asking.
#[derive(Clone)]
pub struct Asker {
    pub connection: ConnectionTo<Client>,
    pub session: SessionId,
    pub root: PathBuf,
    /// Whether the client can show a form.
    pub has_forms: bool,
}

/// One possible answer.
pub struct AnswerChoice {
    pub label: String,
    pub value: Value,
    pub description: Option<String>,
}

impl Asker {
    /// The answers; `None` if there are none and the question stays pending. `remark` says why it is asked again.
    pub async fn ask(&self, pending: &Pending, call: &str, remark: Option<&str>) -> Option<Map<String, Value>> {
        if pending.kind == QuestionKind::User && self.has_forms {
            return self.ask_by_form(pending, call, remark).await;
        }
        let mut answers = Map::new();
        for question in &pending.questions {
            let choices = choices(question);
            if choices.is_empty() {
                return None;
            }
            let value = self.ask_by_options(pending, question, &choices, call, remark).await?;
            answers.insert(question.name.clone(), value);
        }
        Some(answers)
    }

    async fn ask_by_form(&self, pending: &Pending, call: &str, remark: Option<&str>) -> Option<Map<String, Value>> {
        let form = Form::of(&pending.questions);
        let scope = ElicitationSessionScope::new(self.session.clone()).tool_call_id(ToolCallId::new(call.to_owned()));
        let words = match pending.questions.as_slice() {
            [question] => words(question),
            _ => "The agent has questions.".to_owned(),
        };
        let words = remark.map_or_else(|| words.clone(), |remark| format!("{remark}\n\n{words}"));
        let request = CreateElicitationRequest::new(ElicitationFormMode::new(scope, form.schema.clone()), words);
        match self.connection.send_request(request).block_task().await {
            Ok(response) => match response.action {
                ElicitationAction::Accept(accepted) => Some(form.answers(&accepted.content.unwrap_or_default())),
                ElicitationAction::Decline | ElicitationAction::Cancel | ElicitationAction::Other(_) | _ => None,
            },
            Err(error) => {
                tracing::warn!(code = ?error.code, "the client can't show a form");
                None
            }
        }
    }

    async fn ask_by_options(
        &self,
        pending: &Pending,
        question: &Question,
        choices: &[AnswerChoice],
        call: &str,
        remark: Option<&str>,
    ) -> Option<Value> {
        let mut options: Vec<PermissionOption> = choices
            .iter()
            .enumerate()
            .map(|(number, choice)| PermissionOption::new(number.to_string(), choice.label.clone(), kind(pending.kind, choice)))
            .collect();
        if pending.kind == QuestionKind::User {
            options.push(PermissionOption::new(LATER, "Answer later", PermissionOptionKind::RejectOnce));
        }
        let shown = ToolCallUpdate::new(call.to_owned(), self.fields(pending, question, remark));
        let request = RequestPermissionRequest::new(self.session.clone(), shown, options);
        match self.connection.send_request(request).block_task().await {
            Ok(response) => match response.outcome {
                RequestPermissionOutcome::Selected(selected) => {
                    let number: usize = selected.option_id.to_string().parse().ok()?;
                    choices.get(number).map(|choice| choice.value.clone())
                }
                RequestPermissionOutcome::Cancelled | _ => None,
            },
            Err(error) => {
                tracing::warn!(code = ?error.code, "the client can't ask for permission");
                None
            }
        }
    }

    fn fields(&self, pending: &Pending, question: &Question, remark: Option<&str>) -> ToolCallUpdateFields {
        let mut content: Vec<_> = remark.map(calls::text).into_iter().collect();
        let fields = ToolCallUpdateFields::new().status(ToolCallStatus::Pending);
        if let (QuestionKind::ToolApproval, Some(call)) = (pending.kind, &pending.call) {
            let (tool, args) = (call.tool.as_str(), call.args.as_ref().unwrap_or(&Value::Null));
            content.push(calls::text(&words(question)));
            content.extend(calls::preview(tool, args, &self.root));
            return fields
                .title(calls::title(tool, args))
                .locations(calls::locations(args, &self.root))
                .content(content)
                .raw_input(args.clone());
        }
        let (title, kind) = heading(pending);
        let fields = fields.title(title).kind(kind);
        let Some(card) = &pending.plan else {
            content.push(calls::text(&with_choices(question)));
            return fields.content(content);
        };
        content.push(calls::text(&plan_text(card)));
        content.extend(question.context.as_deref().map(calls::text));
        let place = calls::location(&card.plan_file, None, &self.root);
        fields.content(content).locations(place.into_iter().collect::<Vec<_>>()).raw_input(json!(card))
    }
}

/// The placeholder call that shows a question which no call of the model asked.
pub fn placeholder(pending: &Pending) -> ToolCall {
    let (title, kind) = heading(pending);
    ToolCall::new(placeholder_id(pending), title).kind(kind).status(ToolCallStatus::Pending)
}

/// The id of that placeholder call.
pub fn placeholder_id(pending: &Pending) -> String {
    format!("question-{}", pending.question_id)
}

/// The question as text, for a client that can't ask it.
pub fn text(pending: &Pending) -> String {
    match &pending.plan {
        Some(card) => format!("{}\n\n{}", plan_text(card), pending.questions.iter().map(with_choices).collect::<Vec<_>>().join("\n\n")),
        None => pending.questions.iter().map(with_choices).collect::<Vec<_>>().join("\n\n"),
    }
}

/// The possible answers, if they can be listed.
pub fn choices(question: &Question) -> Vec<AnswerChoice> {
    if !question.buttons.is_empty() {
        let choice = |button: &planwright_protocol::question::Button| AnswerChoice {
            label: button.label.clone(),
            value: button.value.clone(),
            description: button.description.clone(),
        };
        return question.buttons.iter().map(choice).collect();
    }
    if let Some(values) = question.schema.get("enum").and_then(Value::as_array) {
        let choice = |value: &Value| AnswerChoice { label: plain(value), value: value.clone(), description: None };
        return values.iter().map(choice).collect();
    }
    if question.schema.get("type").is_some_and(|kind| kind == "boolean") {
        let choice = |label: &str, value: bool| AnswerChoice { label: label.to_owned(), value: value.into(), description: None };
        return vec![choice("Yes", true), choice("No", false)];
    }
    Vec::new()
}

pub fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The meaning of a choice for an approval. Answers to other questions have no such kind.
fn kind(asks: QuestionKind, choice: &AnswerChoice) -> PermissionOptionKind {
    let is = |decision: Decision| choice.value == decision.as_str();
    match asks {
        QuestionKind::User => PermissionOptionKind::AllowOnce,
        QuestionKind::StepStop if choice.value == StopDecision::Continue.as_str() => PermissionOptionKind::AllowOnce,
        QuestionKind::StepStop => PermissionOptionKind::RejectOnce,
        QuestionKind::PlanApproval | QuestionKind::ToolApproval if is(Decision::Approve) || choice.value == true => {
            PermissionOptionKind::AllowOnce
        }
        QuestionKind::ToolApproval if is(Decision::ApproveAlways) => PermissionOptionKind::AllowAlways,
        QuestionKind::PlanApproval | QuestionKind::ToolApproval => PermissionOptionKind::RejectOnce,
    }
}

fn heading(pending: &Pending) -> (String, ToolKind) {
    let goal = pending.plan.as_ref().map(|card| &card.goal);
    let first = pending.questions.first().map(|question| question.question.lines().next().unwrap_or_default());
    match goal {
        Some(goal) => (format!("Approve the plan: {goal}"), ToolKind::SwitchMode),
        None => (first.unwrap_or("A question").to_owned(), ToolKind::Other),
    }
}

fn plan_text(card: &PlanToApprove) -> String {
    plan::text(&card.goal, &card.steps, &card.plan_file, card.revision)
}

fn words(question: &Question) -> String {
    [Some(question.question.clone()), question.context.clone()].into_iter().flatten().collect::<Vec<_>>().join("\n\n")
}

fn with_choices(question: &Question) -> String {
    let mut text = words(question);
    for AnswerChoice { label, description, .. } in choices(question) {
        let description = description.map(|description| format!(": {description}")).unwrap_or_default();
        text.push_str(&format!("\n- {label}{description}"));
    }
    text
}
