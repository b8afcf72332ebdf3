//! Orders the history as the model read it.
//!
//! A message that the user sends during a reply is stored before the reply, which did not know it. Replayed in that order it
//! would count as answered. A compaction is such a reply too.

use planwright_protocol::message::ReadMarker;
use planwright_protocol::{Author, Message, MessageBody};

/// The newest user message in this history.
pub fn read_up_to(history: &[Message]) -> ReadMarker {
    let newest = history.iter().rev().find(|message| message.author == Author::User);
    newest.map_or(ReadMarker::Nothing, |message| ReadMarker::UpTo(message.id))
}

/// Which part of a chat's messages a history is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistoryPart {
    Whole,
    /// The end of it: missing messages are older.
    End,
}

/// Moves messages that were sent during a reply behind it. Not behind a question: they did not answer it, and it is still
/// pending.
pub fn as_read(history: Vec<Message>, extent: HistoryPart) -> Vec<Message> {
    let mut read: Vec<Message> = Vec::new();
    let mut unread = Vec::new();
    for message in history {
        let marker = message.body.read_up_to();
        let last = read.last().and_then(|last| last.body.reply());
        let is_same = message.body.reply().zip(last).is_some_and(|(reply, last)| reply.is_same(last));
        let goes_on = marker.is_some() && is_same;
        if !goes_on {
            read.append(&mut unread);
        }
        if let Some(marker) = marker.filter(|_| !matches!(message.body, MessageBody::Question(_))) {
            let later = match marker {
                ReadMarker::Nothing => 0,
                ReadMarker::UpTo(newest) => match (read.iter().position(|known| known.id == newest), extent) {
                    (Some(place), _) => place + 1,
                    (None, HistoryPart::Whole) => read.len(),
                    (None, HistoryPart::End) => 0,
                },
            };
            unread.extend(read.extract_if(later.., |known| known.author == Author::User));
        }
        read.push(message);
    }
    read.append(&mut unread);
    read
}

#[cfg(test)]
mod tests {
    use super::*;
    use planwright_protocol::message::{
        AssistantText, CompactionFacts, CompactionNotice, QuestionCard, ReplyPart, ToolCall, ToolOutcome, ToolResult, UserText,
    };
    use planwright_protocol::{CallId, ChatId, MessageId, Notice, QuestionId, QuestionKind, Severity};
    use serde_json::Value;

    fn said(body: impl Into<MessageBody>, content: &str) -> Message {
        Message::new(ChatId::generate(), body, content)
    }

    fn user(content: &str) -> Message {
        said(UserText::default(), content)
    }

    fn up_to(read: &Message) -> ReadMarker {
        ReadMarker::UpTo(read.id)
    }

    fn reply(id: MessageId, read_up_to: ReadMarker) -> ReplyPart {
        ReplyPart { id: Some(id), read_up_to: Some(read_up_to), ..ReplyPart::default() }
    }

    fn text(reply: ReplyPart, content: &str) -> Message {
        said(AssistantText { reply, ..AssistantText::default() }, content)
    }

    fn order(history: Vec<Message>) -> Vec<String> {
        as_read(history, HistoryPart::Whole).into_iter().map(|message| message.content).collect()
    }

    #[test]
    fn what_was_written_during_a_reply_stands_behind_all_of_it() {
        let first = user("first");
        let reply = reply(MessageId::generate(), up_to(&first));
        let call = ToolCall { reply: reply.clone(), ..ToolCall::new(CallId::generate(), "ls", Value::Null) };
        let (tool, outcome) = ("ls".to_owned(), ToolOutcome::Succeeded(None));
        let result = ToolResult { call_id: call.call_id, tool, outcome, question_id: None, body_size: None };
        let history = vec![first, user("second"), user("third"), text(reply, "text"), said(call, "call"), said(result, "result")];
        assert_eq!(order(history), ["first", "text", "call", "second", "third", "result"]);
    }

    #[test]
    fn what_the_next_reply_has_read_stands_before_it() {
        let (first, second, third) = (user("first"), user("second"), user("third"));
        let reply = |content, read: &Message| text(reply(MessageId::generate(), up_to(read)), content);
        let replies = (reply("to first", &first), reply("to second", &second));
        let history = vec![first, second, replies.0, third, replies.1];
        assert_eq!(order(history), ["first", "to first", "second", "to second", "third"]);
    }

    #[test]
    fn what_was_written_during_a_summary_stands_behind_it_and_before_the_next() {
        let (first, second, third) = (user("first"), user("second"), user("third"));
        let facts = CompactionFacts { tokens_before: 1, by_model: true };
        let summary =
            |content, read: &Message| said(Notice::Compaction(CompactionNotice { facts, read_up_to: Some(up_to(read)) }), content);
        let summaries = (summary("of first", &first), summary("of second", &second));
        let history = vec![first, second, summaries.0, third, summaries.1];
        assert_eq!(order(history), ["first", "of first", "second", "of second", "third"]);
    }

    #[test]
    fn a_reply_that_had_read_nothing_has_everything_behind_it() {
        let reply = text(reply(MessageId::generate(), ReadMarker::Nothing), "reply");
        let history = vec![said(Notice::Plain, "go"), user("wait"), reply];
        assert_eq!(order(history), ["go", "reply", "wait"]);
    }

    #[test]
    fn a_question_stays_the_last_word() {
        let first = user("first");
        let (question_id, kind, severity) = (QuestionId::generate(), QuestionKind::User, Severity::Major);
        let reply = reply(MessageId::generate(), up_to(&first));
        let card = QuestionCard { question_id, questions: Vec::new(), kind, severity, plan: None, call: None, reply };
        let history = vec![first, user("second"), said(card, "which?")];
        assert_eq!(order(history), ["first", "second", "which?"]);
    }
}
