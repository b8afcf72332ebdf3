//! The state machine of a run, without input or output.
//!
//! A turn is the fold of a chat's messages. Replaying the stored messages gives the same turn, so a run continues after
//! a crash where it was.

use crate::history::{Conversation, Replies};
use planwright_protocol::message::{Notice, ReplyPart, ToolOutcome};
use planwright_protocol::{CallId, CallMessage, ErrorCode, Message, MessageBody, MessageId, QuestionId, SwitchedBy};
use serde_json::Value;
use std::collections::HashMap;

/// The run ends when the same call fails this many times in a row.
pub const LOOP_ENDS_RUN: u64 = 6;

#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    CallModel,
    /// The calls of the newest reply without a result.
    CallTools(Vec<CallMessage>),
    Ask(QuestionId),
    Done,
    OutOfTurns(u32),
    /// The model repeats a failing call.
    Loop,
}

#[derive(Clone, Debug)]
pub struct Turn {
    history: Vec<Message>,
    /// The index of each message in the history.
    indexes: HashMap<MessageId, usize>,
    conversation: Conversation,
    /// The indexes of calls without a result.
    open: Vec<usize>,
    pending_question: Option<QuestionId>,
    /// Whether the newest message is one that the model has not seen.
    has_unseen: bool,
    /// Model replies since the user's last message.
    replies: u32,
    /// The index where the newest reply begins, and the counts before it.
    newest_reply: usize,
    before_newest_reply: ReplyCounts,
    limit: u32,
    /// Whether the model repeated itself after enough warnings.
    is_looping: bool,
}

/// The counts of the part of a history that a turn does not replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplyCounts {
    /// Model replies since the user's last message.
    pub since_user: u32,
    pub replies: Replies,
}

impl Turn {
    #[must_use]
    pub fn replay(history: Vec<Message>, limit: u32) -> Self {
        Self::replay_after(ReplyCounts::default(), history, limit)
    }

    /// Replays the end of a history, from the point where [`Self::tail`] started at the last compaction.
    #[must_use]
    pub fn replay_after(before: ReplyCounts, history: Vec<Message>, limit: u32) -> Self {
        Self::fold(before, Conversation::after(before.replies), history, limit)
    }

    /// Replays the newest part of a history that is too long for the model. Replies that were not loaded are not counted.
    #[must_use]
    pub fn replay_cut(before: ReplyCounts, history: Vec<Message>, limit: u32) -> Self {
        Self::fold(before, Conversation::cut_after(before.replies), history, limit)
    }

    fn fold(before: ReplyCounts, conversation: Conversation, history: Vec<Message>, limit: u32) -> Self {
        let mut turn = Turn {
            history: Vec::new(),
            indexes: HashMap::new(),
            conversation,
            open: Vec::new(),
            pending_question: None,
            has_unseen: false,
            replies: before.since_user,
            newest_reply: 0,
            before_newest_reply: before,
            limit,
            is_looping: false,
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
        self.indexes.contains_key(&message)
    }

    /// The messages that stay after a compaction, and the counts before them. Replaying them with the summary gives the
    /// same turn.
    #[must_use]
    pub fn tail(&self) -> (ReplyCounts, &[Message]) {
        (self.before_newest_reply, &self.history[self.newest_reply..])
    }

    /// The history in the form that a model reads.
    #[must_use]
    pub fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    #[must_use]
    pub fn next(&self) -> Step {
        if let Some(question) = self.pending_question {
            Step::Ask(question)
        } else if !self.open.is_empty() {
            Step::CallTools(self.open.iter().filter_map(|&index| self.history[index].to_call()).collect())
        } else if !self.has_unseen {
            Step::Done
        } else if self.is_looping {
            Step::Loop
        } else if self.replies >= self.limit {
            Step::OutOfTurns(self.limit)
        } else {
            Step::CallModel
        }
    }

    /// Adds a message. A message whose id is already known replaces its earlier version.
    pub fn apply(&mut self, message: Message) {
        if let Some(&place) = self.indexes.get(&message.id) {
            self.history[place] = message;
            return;
        }
        match &message.body {
            MessageBody::Question(card) => self.pending_question = Some(card.question_id),
            MessageBody::UserText(_) | MessageBody::Answer(_) => self.on_user_message(),
            MessageBody::ToolCall(call) => {
                self.count(&call.reply);
                self.open.push(self.history.len());
            }
            // A plan or a review that a call stored is a result of that call, not a reply.
            MessageBody::Plan(version) if version.call_id.is_some() || version.is_edited => {}
            MessageBody::AssistantText(text) if text.call_id.is_some() => {}
            MessageBody::Plan(version) => self.on_reply(&version.reply),
            MessageBody::AssistantText(text) => self.on_reply(&text.reply),
            MessageBody::ToolResult(result) => {
                self.on_result(result.call_id);
                self.is_looping |= ends_run(&result.outcome);
            }
            MessageBody::Notice(notice) => {
                if starts_work(notice) {
                    self.on_user_message();
                }
            }
            MessageBody::Unknown(unknown) => {
                if let Some(call) = unknown.result_of {
                    self.on_result(call);
                }
            }
        }
        self.indexes.insert(message.id, self.history.len());
        self.conversation.add(&message);
        self.history.push(message);
    }

    fn on_reply(&mut self, reply: &ReplyPart) {
        self.count(reply);
        self.has_unseen = false;
    }

    fn on_result(&mut self, call: CallId) {
        self.open.retain(|&index| self.history[index].body.call_id() != Some(call));
        self.has_unseen = true;
    }

    /// The messages of one reply share its id, so only the first counts.
    fn count(&mut self, reply: &ReplyPart) {
        let last = self.history.last().and_then(|last| last.body.reply());
        if last.is_some_and(|last| last.is_same(reply)) {
            return;
        }
        self.before_newest_reply = ReplyCounts { since_user: self.replies, replies: self.conversation.replies() };
        self.newest_reply = self.history.len();
        self.replies += 1;
    }

    fn on_user_message(&mut self) {
        self.has_unseen = true;
        self.replies = 0;
        self.is_looping = false;
        // A new message or an approval supersedes the question; an answer resolves it.
        self.pending_question = None;
    }
}

/// Whether this result reports that its call failed the same way too often.
fn ends_run(outcome: &ToolOutcome) -> bool {
    let Some(problem) = outcome.error() else { return false };
    let times = problem.details.as_ref().and_then(|details| details.get("times")).and_then(Value::as_u64);
    problem.code == ErrorCode::LoopDetected && times >= Some(LOOP_ENDS_RUN)
}

/// An approval and a retry are the user's order to work, and a task is the Commander's, though all three are records of
/// the server.
fn starts_work(notice: &Notice) -> bool {
    match notice {
        Notice::ModeChange(change) => matches!(change.by, SwitchedBy::Approval | SwitchedBy::Intent),
        Notice::Approval(approval) => matches!(approval.mode_change.by, SwitchedBy::Approval | SwitchedBy::Intent),
        Notice::Task | Notice::Answered | Notice::Retry => true,
        Notice::Plain
        | Notice::Drift(_)
        | Notice::PlanChanged(_)
        | Notice::Revert(_)
        | Notice::Compaction(_)
        | Notice::Commit(_)
        | Notice::Cut(_)
        | Notice::Server(_)
        | Notice::ModeUndecided => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{self, card, id, notice, plan, result, result_with};
    use planwright_protocol::message::{CompactionFacts, CompactionNotice, ModeChange, UnknownBody};
    use planwright_protocol::{MessageType, Problem, Role};
    use serde_json::{Map, json};

    fn user() -> Message {
        samples::user("")
    }

    fn call(id: &str) -> Message {
        call_of(id, "")
    }

    fn call_of(id: &str, reply: &str) -> Message {
        samples::call(id, "read", reply)
    }

    fn say(reply: &str) -> Message {
        samples::say(reply, "")
    }

    #[test]
    fn the_newest_part_of_a_long_history_ends_like_the_whole_and_is_summed_up_first() {
        let mut whole = vec![user()];
        for number in 0..20 {
            let name = number.to_string();
            whole.extend([call(&name), result(&name), samples::user("more")]);
        }
        whole.push(call("open"));
        for first in 1..whole.len() {
            let (all, part) = (Turn::replay(whole.clone(), 50), Turn::replay_cut(ReplyCounts::default(), whole[first..].to_vec(), 50));
            assert_eq!(part.next(), all.next(), "from {first} on");
            assert!(matches!(part.conversation().entries().first(), Some(crate::ModelMessage::User(text)) if text.contains("left out")));
            assert!(crate::compaction::is_due(part.conversation(), 0, 128_000), "from {first} on");
        }
        let mut part = Turn::replay_cut(ReplyCounts::default(), whole[5..].to_vec(), 50);
        let facts = CompactionFacts { tokens_before: 1, by_model: true };
        part.apply(notice(Notice::Compaction(CompactionNotice { facts, read_up_to: None }), "summary"));
        assert!(!part.conversation().is_cut());
        assert_eq!(part.conversation().entries()[0], crate::ModelMessage::User("summary".to_owned()));
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
        assert!(matches!(turn.next(), Step::CallTools(calls) if calls.len() == 1 && calls[0].body.call_id == id("a")));
        turn.apply(result("a"));
        assert_eq!(turn.next(), Step::CallModel);
    }

    #[test]
    fn a_plan_that_a_call_stored_does_not_end_the_turn() {
        assert_eq!(Turn::replay(vec![user(), call("a"), result("a"), plan(Some("a"))], 5).next(), Step::CallModel);
        assert_eq!(Turn::replay(vec![user(), plan(None)], 5).next(), Step::Done);
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
    fn replaying_only_the_tail_and_the_summary_gives_the_same_turn() {
        let summary = || {
            notice(
                Notice::Compaction(CompactionNotice { facts: CompactionFacts { tokens_before: 1, by_model: true }, read_up_to: None }),
                "Summary",
            )
        };
        let histories = [
            vec![user(), say("1"), call_of("a", "1"), result("a"), say("2"), call_of("b", "2"), result("b")],
            vec![user(), say("1"), user(), say("2"), user()],
            vec![user(), say("1")],
            vec![user()],
        ];
        for history in histories {
            let before = Turn::replay(history.clone(), 9);
            let (counts, tail) = before.tail();
            let next = [summary(), say("9"), call_of("z", "9"), result("z")];
            let whole = Turn::replay([history.clone(), next.to_vec()].concat(), 9);
            let part = Turn::replay_after(counts, [tail.to_vec(), next.to_vec()].concat(), 9);
            assert_eq!(part.conversation().entries(), whole.conversation().entries(), "{}", history.len());
            assert_eq!(
                (part.conversation().replies(), part.replies, part.next()),
                (whole.conversation().replies(), whole.replies, whole.next())
            );
        }
    }

    #[test]
    fn a_question_parks_the_turn_until_the_user_speaks() {
        let mut turn = Turn::replay(vec![user(), call("a"), card("q", vec![], "", "")], 5);
        assert_eq!(turn.next(), Step::Ask(id("q")));
        turn.apply(user());
        assert!(matches!(turn.next(), Step::CallTools(_)));
    }

    #[test]
    fn an_approval_starts_work_and_a_plain_switch_does_not() {
        let switch = |by| notice(Notice::ModeChange(ModeChange { from: Role::Planner, to: Role::Actor, by }), "");
        assert_eq!(Turn::replay(vec![switch(SwitchedBy::User)], 5).next(), Step::Done);
        assert_eq!(Turn::replay(vec![switch(SwitchedBy::Approval)], 5).next(), Step::CallModel);
        let waiting = vec![user(), card("q", vec![], "", ""), switch(SwitchedBy::Approval)];
        assert_eq!(Turn::replay(waiting, 5).next(), Step::CallModel, "nobody waits for that answer");
    }

    #[test]
    fn a_run_that_repeats_itself_ends_and_a_new_message_gives_it_another_chance() {
        let failed = |times: u64| {
            let problem = Problem::new(ErrorCode::LoopDetected, "again").with_details(json!({ "times": times }));
            result_with("a", ToolOutcome::Failed(problem), "")
        };
        let run = |times: u64| Turn::replay(vec![user(), say("1"), call("a"), failed(times)], 100);
        assert_eq!(run(5).next(), Step::CallModel);
        let mut turn = run(6);
        assert_eq!(turn.next(), Step::Loop);
        turn.apply(user());
        assert_eq!(turn.next(), Step::CallModel);
    }

    #[test]
    fn a_run_stops_at_its_limit_of_turns_and_a_new_message_gives_it_more() {
        let reply = |id: &str| [say(id), call_of(id, id), result(id)];
        let silent = |id: &str| [call_of(id, id), call_of("b", id), result(id), result("b")];
        for replies in
            [(0..5).flat_map(|n| reply(&n.to_string())).collect::<Vec<_>>(), (0..5).flat_map(|n| silent(&n.to_string())).collect()]
        {
            let mut turn = Turn::replay([vec![user()], replies].concat(), 5);
            assert_eq!(turn.next(), Step::OutOfTurns(5));
            turn.apply(user());
            assert_eq!(turn.next(), Step::CallModel);
        }
    }
    #[test]
    fn a_call_whose_result_cannot_be_read_is_not_made_again() {
        let result_of =
            |result_of| UnknownBody { message_type: MessageType::ToolResult, metadata: Map::new(), reason: String::new(), result_of };
        let unknown = |result: UnknownBody| Message { body: MessageBody::Unknown(result), ..user() };
        let history = |last: Message| vec![user(), say("1"), call("a"), last];
        assert_eq!(Turn::replay(history(unknown(result_of(Some(id("a"))))), 5).next(), Step::CallModel);
        assert!(matches!(Turn::replay(history(unknown(result_of(None))), 5).next(), Step::CallTools(_)), "it answers no call");
    }
}
