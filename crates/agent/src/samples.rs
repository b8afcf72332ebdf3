//! Messages for tests. Ids are derived from short names, so that the same name gives the same id.

use planwright_protocol::message::{
    Answer, AssistantText, PlanVersion, QuestionAnswer, QuestionCard, ReplyPart, ToolCall, ToolOutcome, ToolResult, UserText,
};
use planwright_protocol::{
    AttachedImage, CallId, ChatId, Message, MessageBody, MessageId, Mode, Notice, Plan, Question, QuestionId, QuestionKind, Severity,
};
use serde_json::{Map, Value, json};

pub fn id<T: std::str::FromStr>(name: &str) -> T {
    let number = name.bytes().fold(1_u128, |number, byte| number << 8 | u128::from(byte));
    let Ok(id) = format!("{number:032x}").parse() else { panic!("{name} is too long for an id") };
    id
}

pub fn message(body: impl Into<MessageBody>, content: &str) -> Message {
    Message::new(ChatId::generate(), body, content).with_role(Mode::Plan.default_role())
}

pub fn user(content: &str) -> Message {
    message(UserText::default(), content)
}

pub fn with_images(content: &str, sums: &[&str]) -> Message {
    let image = |sum: &&str| AttachedImage { sha256: (*sum).to_owned(), mime_type: "image/png".to_owned(), size: 1 };
    message(UserText { images: sums.iter().map(image).collect(), ..UserText::default() }, content)
}

pub fn answer(question: &str, answers: Value, content: &str) -> Message {
    let answers: Map<String, Value> = answers.as_object().cloned().unwrap_or_default();
    let question_answer = QuestionAnswer { question_id: id::<QuestionId>(question), answers };
    message(Answer { user: None, question_answer, comment: None }, content)
}

/// A part of a reply; `""` for none.
pub fn part(reply: &str) -> ReplyPart {
    ReplyPart::accompanying((!reply.is_empty()).then(|| id::<MessageId>(reply)))
}

pub fn say(reply: &str, content: &str) -> Message {
    message(AssistantText { reply: part(reply), ..AssistantText::default() }, content)
}

pub fn call(name: &str, tool: &str, reply: &str) -> Message {
    let call = ToolCall::new(id::<CallId>(name), tool, json!({ "path": name }));
    message(ToolCall { reply: part(reply), ..call }, "")
}

pub fn result_with(call: &str, outcome: ToolOutcome, content: &str) -> Message {
    let result = ToolResult { call_id: id(call), tool: "read".to_owned(), outcome, question_id: None, body_size: None };
    message(result, content)
}

pub fn result(call: &str) -> Message {
    result_with(call, ToolOutcome::Succeeded(None), "ok")
}

pub fn card(name: &str, questions: Vec<Question>, reply: &str, content: &str) -> Message {
    let (question_id, kind, severity) = (id(name), QuestionKind::User, Severity::Major);
    message(QuestionCard { question_id, questions, kind, severity, plan: None, call: None, reply: part(reply) }, content)
}

/// A plan that is a reply, or that a call wrote.
pub fn plan(call: Option<&str>) -> Message {
    let version = PlanVersion {
        plan: Plan { goal: "Greet".to_owned(), ..Plan::default() },
        plan_file: "/plans/greet.plan".to_owned(),
        revision: 1,
        sha256: "00".to_owned(),
        files: None,
        is_edited: false,
        user: None,
        comments: Vec::new(),
        call_id: call.map(id),
        reply: ReplyPart::default(),
    };
    message(version, "Greet")
}

pub fn notice(notice: Notice, content: &str) -> Message {
    message(notice, content)
}
