//! Long chats: what stays when the conversation is summed up.
//!
//! The model writes a summary; what must not depend on its care is put beside it from the stored history: the user's
//! own words, decisions, the plan, the files that were changed. Mode and approved plan are in the prompt anyway.

use crate::history::Conversation;
use crate::thread::is_task;
use planwright_protocol::{Author, Message, MessageType, Problem};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The key of a message that takes the place of all before it.
pub const COMPACTION: &str = "compaction";
/// What the model is told to do, as the last message of the request.
pub const ORDER: &str = "Write the summary now.";
/// How much of the user's words is kept, in bytes: all of the newest, and of the others the newest that fit.
const WORDS: usize = 24_000;
const WORDS_OF_ONE: usize = 4_000;

/// What to tell a model that is to sum up.
#[must_use]
pub fn system_prompt() -> &'static str {
    include_str!("../prompts/summary.md")
}

/// Whether so much has been said that the next request should be shorter.
#[must_use]
pub fn is_due(conversation: &Conversation, used: u64, context: u64) -> bool {
    conversation.has_grown() && used.max(conversation.estimated_tokens()) > context / 4 * 3
}

/// In the details of a problem, as its `reason`: the model can't read so much.
pub const TOO_LONG: &str = "context_length_exceeded";

/// Whether a model said that the request was too long, however short it seemed.
#[must_use]
pub fn is_overdue(conversation: &Conversation, problem: &Problem) -> bool {
    let reason = problem.details.as_ref().and_then(|details| details.get("reason"));
    conversation.has_grown() && reason.is_some_and(|reason| reason == TOO_LONG)
}

/// The message that takes the place of the history.
#[must_use]
pub fn text(history: &[Message], summary: &str) -> String {
    let mut text = "The conversation so far was summed up to save room. This is what is left of it.\n".to_owned();
    let mut part = |title: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            let _ = write!(text, "\n## {title}\n\n{}\n", lines.join("\n"));
        }
    };
    part("The task", history.iter().filter(|message| is_task(message)).map(|message| message.content.clone()).collect());
    part("The user's words", words(history));
    part("Decisions", decisions(history));
    part("The plan as it was last written", plan(history).into_iter().collect());
    part("Files changed", changed_files(history));
    part("Summary", [summary.trim()].into_iter().filter(|text| !text.is_empty()).map(str::to_owned).collect());
    text
}

fn words(history: &[Message]) -> Vec<String> {
    let mut left = WORDS;
    let mut kept: Vec<String> = Vec::new();
    let said = |message: &&Message| message.author == Author::User && !message.metadata.contains_key("question_answer");
    for message in history.iter().rev().filter(said) {
        let most = if kept.is_empty() { WORDS } else { WORDS_OF_ONE };
        // Which of them the model still sees, is not decided here.
        let images = " (with an image)".repeat(message.images().len());
        let text = format!("{}{images}", clipped(&message.content, most));
        if text.len() > left {
            kept.push("- (earlier messages are left out)".to_owned());
            break;
        }
        left -= text.len();
        kept.push(format!("- {}", text.replace('\n', "\n  ")));
    }
    kept.reverse();
    kept
}

/// Answers, switches and approvals, in their order.
fn decisions(history: &[Message]) -> Vec<String> {
    let question = |id: &Value| {
        let asked =
            history.iter().find(|message| message.message_type == MessageType::Question && message.metadata.get("question_id") == Some(id));
        asked.map_or_else(String::new, |message| clipped(message.content.trim(), 500))
    };
    history
        .iter()
        .filter_map(|message| match message.metadata.get("question_answer") {
            Some(answer) => Some(format!("- {} {}", question(&answer["question_id"]).replace('\n', " "), clipped(&message.content, 1_000))),
            None if message.metadata.contains_key("mode_change") => Some(format!("- {}", message.content)),
            None => None,
        })
        .collect()
}

fn plan(history: &[Message]) -> Option<String> {
    let newest = history.iter().rev().find(|message| message.message_type == MessageType::Plan)?;
    Some(format!("{}\n\n```json\n{}\n```", newest.meta("plan_file"), newest.metadata.get("plan")?))
}

fn changed_files(history: &[Message]) -> Vec<String> {
    let changing = |message: &&Message| message.meta("category") == "write" && message.meta("status") == "done";
    let paths: BTreeSet<&str> = history
        .iter()
        .filter(changing)
        .filter_map(|message| message.metadata.get("args")?.as_object())
        .flat_map(|args| ["path", "from", "to"].into_iter().filter_map(|key| args.get(key)?.as_str()))
        .collect();
    paths.into_iter().map(|path| format!("- {path}")).collect()
}

fn clipped(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    format!("{} … (cut here)", &text[..text.floor_char_boundary(most)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use planwright_protocol::ChatId;
    use serde_json::json;

    fn message(author: Author, message_type: MessageType, content: &str) -> Message {
        Message::new(ChatId::generate(), author, message_type, content)
    }

    #[test]
    fn words_decisions_plan_and_changed_files_stay_whatever_the_summary_says() {
        let history = [
            message(Author::User, MessageType::Text, "Never touch\nthe database."),
            message(Author::Assistant, MessageType::Plan, "Greet")
                .with("plan_file", "/plans/greet.plan")
                .with("plan", json!({"goal": "Greet"})),
            message(Author::Assistant, MessageType::Question, "Which greeting?").with("question_id", "q"),
            message(Author::User, MessageType::Text, "[Answered: hello]").with("question_answer", json!({"question_id": "q"})),
            message(Author::System, MessageType::Text, "The user approved revision 1.").with("mode_change", json!({"by": "approval"})),
            message(Author::Assistant, MessageType::ToolCall, "")
                .with("category", "write")
                .with("status", "done")
                .with("args", json!({"path": "/src/a.rs"})),
            message(Author::Assistant, MessageType::ToolCall, "")
                .with("category", "write")
                .with("status", "failed")
                .with("args", json!({"path": "/src/b.rs"})),
        ];
        let text = text(&history, "Half of it is done.");
        for part in [
            "- Never touch\n  the database.",
            "- Which greeting? [Answered: hello]",
            "- The user approved revision 1.",
            "/plans/greet.plan\n\n```json\n{\"goal\":\"Greet\"}",
            "- /src/a.rs",
            "## Summary\n\nHalf of it is done.",
        ] {
            assert!(text.contains(part), "{part:?} is not in\n{text}");
        }
        assert!(!text.contains("/src/b.rs"));
    }

    #[test]
    fn words_that_came_with_images_say_so() {
        let image = json!({"sha256": "aa", "mime_type": "image/png", "size": 1});
        let said = message(Author::User, MessageType::Text, "Like this").with("images", json!([image, image]));
        assert!(text(&[said], "").contains("- Like this (with an image) (with an image)\n"));
    }

    #[test]
    fn the_newest_words_stay_when_there_are_too_many() {
        let mut history: Vec<Message> =
            (0..100).map(|number| message(Author::User, MessageType::Text, &format!("{number}é").repeat(3_000))).collect();
        history.push(message(Author::User, MessageType::Text, "The newest."));
        let text = text(&history, "");
        assert!(text.contains("- The newest.") && text.contains("99é") && !text.contains("90é") && text.len() < 2 * WORDS);
        assert!(text.contains("(earlier messages are left out)") && text.contains("(cut here)") && !text.contains("## Summary"));
    }
}
