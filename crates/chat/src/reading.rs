//! The history as the model read it.
//!
//! What the user writes while the model speaks is stored before the reply, which did not know of it. Replayed in that
//! order it would count as answered. A summary of the conversation is such a reply.

use planwright_protocol::{Author, Message, MessageType};

/// On every message of a reply, and on a summary: the newest word of the user that the model had read; empty if there was none.
pub const READ_UP_TO: &str = "read_up_to";

pub fn read_up_to(history: &[Message]) -> String {
    history.iter().rev().find(|message| message.author == Author::User).map(|message| message.id.to_string()).unwrap_or_default()
}

/// Puts what was written during a reply behind it. Not behind a question: it was no answer to that, which still waits.
pub fn as_read(history: Vec<Message>) -> Vec<Message> {
    let mut read: Vec<Message> = Vec::new();
    let mut unread = Vec::new();
    for message in history {
        let is_reply = message.metadata.contains_key(READ_UP_TO);
        let reply = message.meta("reply");
        let goes_on = is_reply && !reply.is_empty() && read.last().is_some_and(|last| last.meta("reply") == reply);
        if !goes_on {
            read.append(&mut unread);
        }
        if is_reply && message.message_type != MessageType::Question {
            let newest = message.meta(READ_UP_TO);
            let place = read.iter().position(|known| known.id.to_string() == newest).map(|place| place + 1);
            let later = if newest.is_empty() { 0 } else { place.unwrap_or(read.len()) };
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
    use planwright_protocol::ChatId;

    fn said(author: Author, message_type: MessageType, content: &str) -> Message {
        Message::new(ChatId::generate(), author, message_type, content)
    }

    fn order(history: Vec<Message>) -> Vec<String> {
        as_read(history).into_iter().map(|message| message.content).collect()
    }

    #[test]
    fn what_was_written_during_a_reply_stands_behind_all_of_it() {
        let first = said(Author::User, MessageType::Text, "first");
        let reply = |kind, content| said(Author::Assistant, kind, content).with("reply", "1").with(READ_UP_TO, first.id.to_string());
        let history = vec![
            first.clone(),
            said(Author::User, MessageType::Text, "second"),
            said(Author::User, MessageType::Text, "third"),
            reply(MessageType::Text, "text"),
            reply(MessageType::ToolCall, "call"),
            said(Author::Tool, MessageType::ToolResult, "result"),
        ];
        assert_eq!(order(history), ["first", "text", "call", "second", "third", "result"]);
    }

    #[test]
    fn what_the_next_reply_has_read_stands_before_it() {
        let user = |content| said(Author::User, MessageType::Text, content);
        let (first, second, third) = (user("first"), user("second"), user("third"));
        let reply = |content, read: &Message| {
            said(Author::Assistant, MessageType::Text, content).with("reply", content).with(READ_UP_TO, read.id.to_string())
        };
        let replies = (reply("to first", &first), reply("to second", &second));
        let history = vec![first, second, replies.0, third, replies.1];
        assert_eq!(order(history), ["first", "to first", "second", "to second", "third"]);
    }

    #[test]
    fn what_was_written_during_a_summary_stands_behind_it_and_before_the_next() {
        let user = |content| said(Author::User, MessageType::Text, content);
        let (first, second, third) = (user("first"), user("second"), user("third"));
        let summary = |content, read: &Message| said(Author::System, MessageType::Text, content).with(READ_UP_TO, read.id.to_string());
        let summaries = (summary("of first", &first), summary("of second", &second));
        let history = vec![first, second, summaries.0, third, summaries.1];
        assert_eq!(order(history), ["first", "of first", "second", "of second", "third"]);
    }

    #[test]
    fn a_reply_that_had_read_nothing_has_everything_behind_it() {
        let reply = said(Author::Assistant, MessageType::Text, "reply").with(READ_UP_TO, "");
        let history = vec![said(Author::System, MessageType::Text, "go"), said(Author::User, MessageType::Text, "wait"), reply];
        assert_eq!(order(history), ["go", "reply", "wait"]);
    }

    #[test]
    fn a_question_stays_the_last_word() {
        let first = said(Author::User, MessageType::Text, "first");
        let question = said(Author::Assistant, MessageType::Question, "which?").with(READ_UP_TO, first.id.to_string());
        let history = vec![first, said(Author::User, MessageType::Text, "second"), question];
        assert_eq!(order(history), ["first", "second", "which?"]);
    }
}
