//! The conversations of one chat: its own, and one for each delegated task.
//!
//! All of them share one history. A task's message names the delegating call; the other messages are the chat's own.

use planwright_protocol::{Author, CallId, CallMessage, ChatId, Message, Notice, Role};
use std::collections::HashSet;

/// A delegate's task, as the first message it reads.
#[must_use]
pub fn task_message(chat: ChatId, role: Role, call: CallId, task: &str) -> Message {
    Message::notice(chat, Notice::Task, task).with_role(role).in_thread(Some(call))
}

#[must_use]
pub fn is_task(message: &Message) -> bool {
    matches!(message.body.notice(), Some(Notice::Task))
}

/// The messages of one conversation. A user's message that names no call of this chat belongs to the chat's own
/// conversation: clients of early versions could forge the name.
#[must_use]
pub fn of_thread(history: Vec<Message>, thread: Option<CallId>) -> Vec<Message> {
    let calls: HashSet<CallId> = history.iter().filter_map(|message| message.body.tool_call()).map(|call| call.call_id).collect();
    let thread_of = |message: &Message| message.delegation.filter(|call| message.author != Author::User || calls.contains(call));
    history.into_iter().filter(|message| thread_of(message) == thread).collect()
}

/// The calls without a result in all conversations; a task's calls come before the call that delegated it.
#[must_use]
pub fn open_calls(history: &[Message]) -> Vec<CallMessage> {
    let results = history.iter().filter(|message| message.author == Author::Tool);
    let over: HashSet<CallId> = results.filter_map(|result| result.body.call_id()).collect();
    let is_open = |message: &&Message| message.body.tool_call().is_some_and(|call| !over.contains(&call.call_id));
    let mut open: Vec<CallMessage> = history.iter().filter(is_open).filter_map(Message::to_call).collect();
    open.sort_by_key(|call| call.delegation.is_none());
    open
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{message, part, say, user};
    use crate::{ModelMessage, Step, Turn};
    use planwright_protocol::message::{ToolCall, ToolOutcome, ToolResult};
    use serde_json::json;

    fn call(id: CallId, content: &str) -> Message {
        message(ToolCall { reply: part(content), ..ToolCall::new(id, "ls", json!({})) }, content)
    }

    fn result(call_id: CallId, content: &str) -> Message {
        let outcome = ToolOutcome::Succeeded(None);
        message(ToolResult { call_id, tool: "ls".to_owned(), outcome, question_id: None, body_size: None }, content)
    }

    /// A chat with a delegated task: one of its calls is done and one is open.
    fn history(handed_on: CallId, open: CallId) -> Vec<Message> {
        let done = CallId::generate();
        let of_task = |message: Message| message.in_thread(Some(handed_on));
        vec![
            user("Greet"),
            call(handed_on, "delegate"),
            task_message(ChatId::generate(), Role::Actor, handed_on, "Write the greeting"),
            of_task(call(done, "first")),
            user("In French"),
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
        let waits_for =
            |turn: &Turn, id: CallId| matches!(turn.next(), Step::CallTools(calls) if calls.len() == 1 && calls[0].body.call_id == id);
        assert!(waits_for(&own, handed_on) && waits_for(&task, open));
    }

    #[test]
    fn a_task_calls_the_model_and_its_report_ends_the_turn() {
        let handed_on = CallId::generate();
        let task = task_message(ChatId::generate(), Role::Planner, handed_on, "Look");
        let mut turn = Turn::replay(vec![task], 5);
        assert_eq!(turn.next(), Step::CallModel);
        turn.apply(say("", "Seen."));
        assert_eq!(turn.next(), Step::Done);
        assert_eq!(Turn::replay(of_thread(history(handed_on, handed_on), Some(CallId::generate())), 5).next(), Step::Done);
    }

    #[test]
    fn the_open_calls_of_a_task_come_before_the_one_that_waits_for_them() {
        let (handed_on, open) = (CallId::generate(), CallId::generate());
        let history = history(handed_on, open);
        let names: Vec<String> = open_calls(&history).into_iter().map(|call| call.content).collect();
        assert_eq!(names, ["second", "delegate"]);
    }
}
