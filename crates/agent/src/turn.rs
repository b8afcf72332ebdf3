//! What comes next, decided without input or output.
//!
//! A turn is the fold of a chat's messages: replaying the stored ones gives the same turn, so a run
//! goes on after a crash where it was.

use crate::history::Conversation;
use crate::thread::is_task;
use planwright_protocol::{Author, ErrorCode, Message, MessageId, MessageType, QuestionId};
use serde_json::Value;
use std::collections::HashMap;

/// The same failing call this many times in a row, and the run is over.
pub const LOOP_ENDS_RUN: u64 = 6;

/// Marks a note of the system that stands for the user's answer.
pub const ANSWERED: &str = "answered";

/// Marks a note of the system that stands for the user's word to try again.
pub const RETRIED: &str = "retry";

#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    CallModel,
    /// The calls of the newest reply that have no result yet.
    CallTools(Vec<Message>),
    Ask(QuestionId),
    Done,
    OutOfTurns(u32),
    /// The model makes a call that fails, over and over.
    Loop,
}

#[derive(Clone, Debug)]
pub struct Turn {
    history: Vec<Message>,
    /// Where in the history each message is.
    places: HashMap<MessageId, usize>,
    conversation: Conversation,
    /// Where in the history the calls without a result are.
    open: Vec<usize>,
    asked: Option<QuestionId>,
    /// Whether the model has not yet seen the newest message.
    unseen: bool,
    /// Replies since the user last had a word.
    replies: u32,
    limit: u32,
    /// Whether the model was told often enough that it repeats itself.
    looping: bool,
}

impl Turn {
    #[must_use]
    pub fn replay(history: Vec<Message>, limit: u32) -> Self {
        let mut turn = Turn {
            history: Vec::new(),
            places: HashMap::new(),
            conversation: Conversation::default(),
            open: Vec::new(),
            asked: None,
            unseen: false,
            replies: 0,
            limit,
            looping: false,
        };
        for message in history {
            turn.apply(message);
        }
        turn
    }

    #[must_use]
    pub fn history(&self) -> &[Message] {
        &self.history
    }

    #[must_use]
    pub fn has(&self, message: MessageId) -> bool {
        self.places.contains_key(&message)
    }

    /// The history as a model reads it.
    #[must_use]
    pub fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    #[must_use]
    pub fn next(&self) -> Step {
        if let Some(question) = self.asked {
            Step::Ask(question)
        } else if !self.open.is_empty() {
            Step::CallTools(self.open.iter().map(|&index| self.history[index].clone()).collect())
        } else if !self.unseen {
            Step::Done
        } else if self.looping {
            Step::Loop
        } else if self.replies >= self.limit {
            Step::OutOfTurns(self.limit)
        } else {
            Step::CallModel
        }
    }

    /// Takes in what has happened. A message that is already known, by its id, is an update of it.
    pub fn apply(&mut self, message: Message) {
        if let Some(&place) = self.places.get(&message.id) {
            self.history[place] = message;
            return;
        }
        match (message.author, message.message_type) {
            (_, MessageType::Question) => self.asked = message.meta("question_id").parse().ok(),
            (Author::User, _) => self.heard(),
            (Author::Assistant, MessageType::ToolCall) => {
                self.count(&message);
                self.open.push(self.history.len());
            }
            // A plan or a review that a call stored is what came of the call, and no reply.
            (Author::Assistant, MessageType::Plan | MessageType::Text) if !message.meta("call_id").is_empty() => {}
            (Author::Assistant, _) => {
                self.count(&message);
                self.unseen = false;
            }
            (Author::Tool, _) => {
                let call = message.meta("call_id");
                self.open.retain(|&index| self.history[index].meta("call_id") != call);
                self.unseen = true;
                self.looping |= ends_run(&message);
            }
            (Author::System, _) => {
                if starts_work(&message) {
                    self.heard();
                }
            }
        }
        self.places.insert(message.id, self.history.len());
        self.conversation.add(&message);
        self.history.push(message);
    }

    /// The messages of one reply share its id, so only the first counts.
    fn count(&mut self, message: &Message) {
        let same_reply =
            self.history.last().is_some_and(|last| !message.meta("reply").is_empty() && last.meta("reply") == message.meta("reply"));
        self.replies += u32::from(!same_reply);
    }

    fn heard(&mut self) {
        self.unseen = true;
        self.replies = 0;
        self.looping = false;
        // A new message or an approval supersedes the question; an answer resolves it.
        self.asked = None;
    }
}

/// Whether this result says that its call failed in the same way too often.
fn ends_run(result: &Message) -> bool {
    let Some(error) = result.metadata.get("error") else { return false };
    let times = error.get("details").and_then(|details| details.get("times")).and_then(Value::as_u64);
    error.get("code").and_then(Value::as_str) == Some(ErrorCode::LoopDetected.as_str()) && times >= Some(LOOP_ENDS_RUN)
}

/// An approval is the user's word to begin, and trying again to go on, though they stand in the history as the system's notes; a
/// task is the Commander's.
fn starts_work(message: &Message) -> bool {
    let approved = matches!(
        message.metadata.get("mode_change").and_then(|change| change.get("by")).and_then(|by| by.as_str()),
        Some("approval" | "intent")
    );
    approved || is_task(message) || [ANSWERED, RETRIED].iter().any(|mark| message.metadata.contains_key(*mark))
}

#[cfg(test)]
mod tests {
    use super::*;
    use planwright_protocol::{ChatId, QuestionId};
    use serde_json::json;

    fn message(author: Author, message_type: MessageType) -> Message {
        Message::new(ChatId::generate(), author, message_type, "")
    }

    fn user() -> Message {
        message(Author::User, MessageType::Text)
    }

    fn call(id: &str) -> Message {
        message(Author::Assistant, MessageType::ToolCall).with("call_id", id)
    }

    fn result(id: &str) -> Message {
        message(Author::Tool, MessageType::ToolResult).with("call_id", id)
    }

    fn say(reply: &str) -> Message {
        message(Author::Assistant, MessageType::Text).with("reply", reply)
    }

    #[test]
    fn a_message_calls_the_model_and_its_answer_ends_the_turn() {
        let mut turn = Turn::replay(vec![], 5);
        assert_eq!(turn.next(), Step::Done);
        turn.apply(user());
        assert_eq!(turn.next(), Step::CallModel);
        turn.apply(say("1"));
        assert_eq!(turn.next(), Step::Done);
    }

    #[test]
    fn calls_are_made_until_each_has_a_result_and_then_the_model_goes_on() {
        let mut turn = Turn::replay(vec![user(), say("1"), call("a"), call("b")], 5);
        assert!(matches!(turn.next(), Step::CallTools(calls) if calls.len() == 2));
        turn.apply(result("b"));
        assert!(matches!(turn.next(), Step::CallTools(calls) if calls.len() == 1 && calls[0].meta("call_id") == "a"));
        turn.apply(result("a"));
        assert_eq!(turn.next(), Step::CallModel);
    }

    #[test]
    fn a_plan_that_a_call_stored_does_not_end_the_turn() {
        let plan = message(Author::Assistant, MessageType::Plan).with("call_id", "a");
        assert_eq!(Turn::replay(vec![user(), call("a"), result("a"), plan], 5).next(), Step::CallModel);
        assert_eq!(Turn::replay(vec![user(), message(Author::Assistant, MessageType::Plan)], 5).next(), Step::Done);
    }

    #[test]
    fn replaying_the_history_gives_the_same_turn_at_every_point() {
        let history =
            [user(), say("1"), call("a"), result("a"), say("2"), call("b"), call("c"), user(), result("c"), result("b"), say("3")];
        let mut live = Turn::replay(vec![], 9);
        for end in 0..history.len() {
            live.apply(history[end].clone());
            assert_eq!(live.next(), Turn::replay(history[..=end].to_vec(), 9).next(), "after {end}");
        }
        assert_eq!(live.next(), Step::Done);
    }

    #[test]
    fn a_question_parks_the_turn_until_the_user_speaks() {
        let id = QuestionId::generate();
        let question = message(Author::Assistant, MessageType::Question).with("question_id", id.to_string());
        let mut turn = Turn::replay(vec![user(), call("a"), question], 5);
        assert_eq!(turn.next(), Step::Ask(id));
        turn.apply(user());
        assert!(matches!(turn.next(), Step::CallTools(_)));
    }

    #[test]
    fn an_approval_starts_work_and_a_plain_switch_does_not() {
        let switch = |by: &str| message(Author::System, MessageType::Text).with("mode_change", json!({"by": by}));
        assert_eq!(Turn::replay(vec![switch("user")], 5).next(), Step::Done);
        assert_eq!(Turn::replay(vec![switch("approval")], 5).next(), Step::CallModel);
        let question = message(Author::Assistant, MessageType::Question).with("question_id", QuestionId::generate().to_string());
        assert_eq!(Turn::replay(vec![user(), question, switch("approval")], 5).next(), Step::CallModel, "nobody waits for that answer");
    }

    #[test]
    fn a_run_that_repeats_itself_ends_and_a_new_message_gives_it_another_chance() {
        let failed = |times: u64| result("a").with("error", json!({"code": "LOOP_DETECTED", "details": {"times": times}}));
        let run = |times: u64| Turn::replay(vec![user(), say("1"), call("a"), failed(times)], 100);
        assert_eq!(run(5).next(), Step::CallModel);
        let mut turn = run(6);
        assert_eq!(turn.next(), Step::Loop);
        turn.apply(user());
        assert_eq!(turn.next(), Step::CallModel);
    }

    #[test]
    fn a_run_stops_at_its_limit_of_turns_and_a_new_message_gives_it_more() {
        let reply = |id: &str| [say(id), call(id).with("reply", id), result(id)];
        let silent = |id: &str| [call(id).with("reply", id), call("b").with("reply", id), result(id), result("b")];
        for replies in
            [(0..5).flat_map(|n| reply(&n.to_string())).collect::<Vec<_>>(), (0..5).flat_map(|n| silent(&n.to_string())).collect()]
        {
            let mut turn = Turn::replay([vec![user()], replies].concat(), 5);
            assert_eq!(turn.next(), Step::OutOfTurns(5));
            turn.apply(user());
            assert_eq!(turn.next(), Step::CallModel);
        }
    }
}
