//! The history as rows: what belongs together becomes one.

use crate::open_chat::OpenChat;
use planwright_protocol::message::{AnsweredComment, CallStatus, Category, PlanVersion, Review, ToolCall, ToolOutcome};
use planwright_protocol::{CallId, Message, MessageBody, MessageId, Notice, QuestionId, Role};
use serde_json::Value;
use std::collections::HashMap;

/// A row of the history.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The first message of it.
    pub id: MessageId,
    /// Whether it belongs to a delegated task.
    pub is_delegated: bool,
    pub content: RowContent,
}

#[derive(Clone, Debug, PartialEq)]
pub enum RowContent {
    User {
        text: String,
        is_queued: bool,
    },
    Answered(String),
    Assistant {
        role: Role,
        text: String,
        is_interrupted: bool,
        review: Option<Review>,
    },
    Reasoning(String),
    /// Consecutive calls.
    Burst(Vec<CallRow>),
    Plan(Box<PlanRow>),
    Question {
        text: String,
        id: QuestionId,
    },
    Notice(NoticeRow),
}

#[derive(Clone, Debug, PartialEq)]
pub struct PlanRow {
    pub version: PlanVersion,
    pub comments: Vec<AnsweredComment>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum NoticeRow {
    /// The role was switched.
    Switch {
        to: Role,
        text: String,
    },
    Plain(String),
}

/// A call with its result.
#[derive(Clone, Debug, PartialEq)]
pub struct CallRow {
    pub call_id: CallId,
    pub tool: String,
    pub title: String,
    pub category: Option<Category>,
    pub status: CallStatus,
    pub result: Option<String>,
    pub error: Option<String>,
    pub args: Value,
}

/// All rows of a chat, oldest first, without the answer that is being written.
#[must_use]
pub fn rows(chat: &OpenChat) -> Vec<Row> {
    let results: HashMap<CallId, &Message> =
        chat.messages.iter().filter_map(|message| Some((message.body.tool_result()?.call_id, message))).collect();
    let mut rows: Vec<Row> = Vec::new();
    for message in &chat.messages {
        for content in contents(message, &results, chat) {
            let is_delegated = message.delegation.is_some();
            if let (RowContent::Burst(calls), Some(Row { content: RowContent::Burst(burst), is_delegated: delegated, .. })) =
                (&content, rows.last_mut())
                && *delegated == is_delegated
            {
                burst.extend(calls.iter().cloned());
                continue;
            }
            rows.push(Row { id: message.id, is_delegated, content });
        }
    }
    rows
}

fn contents(message: &Message, results: &HashMap<CallId, &Message>, chat: &OpenChat) -> Vec<RowContent> {
    let role = message.agent_role.unwrap_or(chat.chat.config.role);
    let mut contents = Vec::new();
    let reasoning = message.body.reply().and_then(|reply| reply.reasoning.as_ref());
    contents.extend(reasoning.filter(|reasoning| !reasoning.trim().is_empty()).map(|text| RowContent::Reasoning(text.clone())));
    match &message.body {
        MessageBody::UserText(_) => {
            let is_queued = chat.queued.contains(&message.id);
            contents.push(RowContent::User { text: message.content.clone(), is_queued });
        }
        MessageBody::Answer(answer) => {
            let comment = answer.comment.as_deref().filter(|comment| !comment.is_empty());
            let comment = comment.map(|comment| format!("\n{comment}")).unwrap_or_default();
            contents.push(RowContent::Answered(format!("{}{comment}", message.content)));
        }
        MessageBody::AssistantText(text) => {
            if !message.content.trim().is_empty() || text.review.is_some() {
                let (is_interrupted, review) = (text.is_interrupted, text.review.clone());
                contents.push(RowContent::Assistant { role, text: message.content.clone(), is_interrupted, review });
            }
        }
        MessageBody::Plan(version) => {
            let row = PlanRow { version: (**version).clone(), comments: version.comments.clone() };
            contents.push(RowContent::Plan(Box::new(row)));
        }
        MessageBody::Question(card) => contents.push(RowContent::Question { text: message.content.clone(), id: card.question_id }),
        MessageBody::ToolCall(call) => contents.push(RowContent::Burst(vec![call_row(call, results.get(&call.call_id).copied())])),
        MessageBody::ToolResult(_) => {}
        MessageBody::Notice(notice) => contents.push(RowContent::Notice(notice_row(notice, &message.content))),
        MessageBody::Unknown(_) => contents.push(RowContent::Notice(NoticeRow::Plain(message.content.clone()))),
    }
    contents
}

fn notice_row(notice: &Notice, text: &str) -> NoticeRow {
    match notice.mode_change() {
        Some(change) => NoticeRow::Switch { to: change.to, text: text.to_owned() },
        None => NoticeRow::Plain(text.to_owned()),
    }
}

fn call_row(call: &ToolCall, result: Option<&Message>) -> CallRow {
    let outcome = result.and_then(|message| message.body.tool_result()).map(|result| &result.outcome);
    let error = match outcome {
        Some(ToolOutcome::Failed(problem)) => Some(format!("{}: {}", problem.code, problem.message)),
        Some(ToolOutcome::Succeeded(_)) | None => None,
    };
    CallRow {
        call_id: call.call_id,
        tool: call.tool.clone(),
        title: call_title(&call.tool, &call.args),
        category: call.category,
        status: call.status,
        result: result.map(|message| message.content.clone()).filter(|_| error.is_none()),
        error,
        args: call.args.clone(),
    }
}

/// What a call is about, in one line.
#[must_use]
pub fn call_title(tool: &str, args: &Value) -> String {
    let text = |key: &str| args.get(key).and_then(Value::as_str);
    let subject = match tool {
        "mv" => text("from").zip(text("to")).map(|(from, to)| format!("{from} → {to}")),
        "run" => text("command").map(str::to_owned),
        _ => ["path", "pattern", "query", "symbol", "url", "task", "goal", "plan_file_path"].into_iter().find_map(text).map(str::to_owned),
    };
    subject.map_or_else(|| tool.to_owned(), |subject| format!("{tool} {subject}"))
}

/// A burst in one line, such as "Read 3 files, searched twice".
#[must_use]
pub fn burst_summary(calls: &[CallRow]) -> String {
    let kinds: [(&str, &str, &str, &[&str]); 6] = [
        ("Read", "file", "files", &["read"]),
        ("Searched", "time", "times", &["grep", "glob", "ls", "outline", "symbols", "references", "history", "web_search"]),
        ("Changed", "file", "files", &["write", "edit", "touch", "mkdir", "mv"]),
        ("Deleted", "path", "paths", &["rm"]),
        ("Ran", "command", "commands", &["run"]),
        ("Fetched", "page", "pages", &["web_fetch"]),
    ];
    let mut parts = Vec::new();
    for (verb, one, many, tools) in kinds {
        let count = calls.iter().filter(|call| tools.contains(&call.tool.as_str())).count();
        if count > 0 {
            parts.push(format!("{verb} {count} {}", if count == 1 { one } else { many }));
        }
    }
    let known = |call: &&CallRow| !kinds.iter().any(|(_, _, _, tools)| tools.contains(&call.tool.as_str()));
    let mut others: Vec<&str> = calls.iter().filter(known).map(|call| call.tool.as_str()).collect();
    others.dedup();
    parts.extend(others.into_iter().map(str::to_owned));
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_call_is_titled_by_what_it_is_about() {
        assert_eq!(call_title("mv", &json!({"from": "/a", "to": "/b"})), "mv /a → /b");
        assert_eq!(call_title("run", &json!({"command": "cargo test"})), "run cargo test");
        assert_eq!(call_title("grep", &json!({"pattern": "fn main"})), "grep fn main");
        assert_eq!(call_title("update_step", &json!("not json")), "update_step");
    }
}
