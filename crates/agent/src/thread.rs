//! The conversations of one chat: its own, and one for each task that was handed to another role.
//!
//! All of them stand in one history. A message of a task names the call that handed it on; the others are the chat's own.

use planwright_protocol::{Author, CallId, ChatId, Message, MessageType, Role};
use std::collections::HashSet;

/// On every message of a task: the call that handed it on.
pub const DELEGATION: &str = "delegation";

/// Marks the message that a task begins with.
const TASK: &str = "task";

/// What a delegate is to do, as the first message it reads.
#[must_use]
pub fn task_message(chat: ChatId, role: Role, call: CallId, task: &str) -> Message {
    Message::new(chat, Author::System, MessageType::Text, task).by(role).with(DELEGATION, call.to_string()).with(TASK, true)
}

#[must_use]
pub fn is_task(message: &Message) -> bool {
    message.metadata.contains_key(TASK)
}

/// The call that handed on the task that this message belongs to; `None` for the chat's own.
#[must_use]
pub fn delegation(message: &Message) -> Option<CallId> {
    message.meta(DELEGATION).parse().ok()
}

/// The messages of one conversation. A user's message that names no call of this chat belongs to the chat's own: clients of
/// earlier versions could forge the name.
#[must_use]
pub fn of_thread(history: Vec<Message>, thread: Option<CallId>) -> Vec<Message> {
    let calls = history.iter().filter(|message| message.message_type == MessageType::ToolCall);
    let calls: HashSet<CallId> = calls.filter_map(|call| call.meta("call_id").parse().ok()).collect();
    let thread_of = |message: &Message| delegation(message).filter(|call| message.author != Author::User || calls.contains(call));
    history.into_iter().filter(|message| thread_of(message) == thread).collect()
}

/// The calls that have no result yet, of all conversations, those of a task before the one that handed it on.
#[must_use]
pub fn open_calls(history: &[Message]) -> Vec<&Message> {
    let results = history.iter().filter(|message| message.author == Author::Tool);
    let over: HashSet<&str> = results.map(|result| result.meta("call_id")).collect();
    let calls = history.iter().filter(|message| message.message_type == MessageType::ToolCall);
    let mut open: Vec<&Message> = calls.filter(|call| !over.contains(call.meta("call_id"))).collect();
    open.sort_by_key(|call| delegation(call).is_none());
    open
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ModelMessage, Step, Turn};

    fn said(author: Author, message_type: MessageType, content: &str) -> Message {
        Message::new(ChatId::generate(), author, message_type, content).by(Role::Commander)
    }

    fn call(id: CallId, content: &str) -> Message {
        said(Author::Assistant, MessageType::ToolCall, content).with("call_id", id.to_string()).with("reply", content)
    }

    fn result(id: CallId, content: &str) -> Message {
        said(Author::Tool, MessageType::ToolResult, content).with("call_id", id.to_string())
    }

    /// A chat that hands on a task, of which one call is done and one is open.
    fn history(handed_on: CallId, open: CallId) -> Vec<Message> {
        let done = CallId::generate();
        let of_task = |message: Message| message.with(DELEGATION, handed_on.to_string());
        vec![
            said(Author::User, MessageType::Text, "Greet"),
            call(handed_on, "delegate"),
            task_message(ChatId::generate(), Role::Actor, handed_on, "Write the greeting"),
            of_task(call(done, "first")),
            said(Author::User, MessageType::Text, "In French"),
            of_task(result(done, "written")),
            of_task(call(open, "second")),
        ]
    }

    fn words(turn: &Turn) -> Vec<String> {
        let text = |message: &ModelMessage| match message {
            ModelMessage::User(text) | ModelMessage::ToolResult { text, .. } => Some(text.clone()),
            ModelMessage::Image(_) | ModelMessage::Assistant { .. } => None,
        };
        turn.conversation().entries().iter().filter_map(text).collect()
    }

    #[test]
    fn each_conversation_is_replayed_without_the_messages_of_the_other() {
        let (handed_on, open) = (CallId::generate(), CallId::generate());
        let of = |thread| Turn::replay(of_thread(history(handed_on, open), thread), 5);
        let (own, task) = (of(None), of(Some(handed_on)));
        assert_eq!(words(&own), ["Greet", "In French"]);
        assert_eq!(words(&task), ["Write the greeting", "written"]);
        let waits_for = |turn: &Turn, id: CallId| matches!(turn.next(), Step::CallTools(calls) if calls.len() == 1 && calls[0].meta("call_id") == id.to_string());
        assert!(waits_for(&own, handed_on) && waits_for(&task, open));
    }

    #[test]
    fn a_task_calls_the_model_and_its_report_ends_the_turn() {
        let handed_on = CallId::generate();
        let task = task_message(ChatId::generate(), Role::Planner, handed_on, "Look");
        let mut turn = Turn::replay(vec![task], 5);
        assert_eq!(turn.next(), Step::CallModel);
        turn.apply(said(Author::Assistant, MessageType::Text, "Seen."));
        assert_eq!(turn.next(), Step::Done);
        assert_eq!(Turn::replay(of_thread(history(handed_on, handed_on), Some(CallId::generate())), 5).next(), Step::Done);
    }

    #[test]
    fn the_open_calls_of_a_task_come_before_the_one_that_waits_for_them() {
        let (handed_on, open) = (CallId::generate(), CallId::generate());
        let history = history(handed_on, open);
        let names: Vec<&str> = open_calls(&history).iter().map(|call| call.content.as_str()).collect();
        assert_eq!(names, ["second", "delegate"]);
    }
}
