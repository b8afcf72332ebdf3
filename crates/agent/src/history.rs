//! A chat's history in the form that a model reads.

use crate::fit;
use crate::provider::{ModelCall, ModelMessage, Native};
use crate::render::{QuestionsByCard, answered_question, message_text, reply_text};
use planwright_protocol::message::{ReplyPart, ToolCall};
use planwright_protocol::{Author, CallId, Message, MessageBody, Mode, Notice, QuestionId, Role};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The result of a call that asked a question, until there is an answer.
const NO_ANSWER: &str = "The user did not answer this, and wrote something else instead.";

/// Replaces earlier messages that don't fit.
const EARLIER: &str = "(The conversation is long. Its earlier messages are left out here.)";

/// The conversation, in the order that every wire format requires: a reply's calls are followed by their results, and
/// user messages that arrived meanwhile come after those. It grows message by message.
#[derive(Clone, Debug, Default)]
pub struct Conversation {
    entries: Arc<Vec<ModelMessage>>,
    /// Calls without a result.
    open: HashSet<CallId>,
    /// Messages that arrived while calls were open.
    deferred: Vec<ModelMessage>,
    /// The index of the result of each call that asked, by its question.
    question_results: HashMap<QuestionId, usize>,
    /// The questions themselves, by card id.
    questions: QuestionsByCard,
    replies: Replies,
    /// The index of the newest reply; without one, the index where the conversation starts after the last compaction.
    newest: usize,
    /// Number of user messages after that index.
    unanswered: usize,
    /// Whether the model has replied since the last compaction.
    grown: bool,
    /// Whether earlier messages are missing that no compaction summarized.
    is_cut: bool,
}

/// Number of model replies in this chat, including compacted ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Replies {
    pub plan: usize,
    pub act: usize,
}

/// An estimate that rather overcounts tokens, for most languages.
pub(crate) const BYTES_OF_A_TOKEN: usize = 3;

/// Estimates the tokens in this many bytes.
#[must_use]
pub fn estimate_tokens(bytes: usize) -> u64 {
    (bytes / BYTES_OF_A_TOKEN) as u64
}

impl Conversation {
    /// An empty conversation that continues after this many replies.
    #[must_use]
    pub fn after(replies: Replies) -> Self {
        Self { replies, ..Self::default() }
    }

    /// The newest part of a conversation whose earlier messages were not loaded; a sentence in their place says so.
    #[must_use]
    pub fn cut_after(replies: Replies) -> Self {
        Self { entries: Arc::new(vec![ModelMessage::User(EARLIER.to_owned())]), newest: 1, is_cut: true, ..Self::after(replies) }
    }

    /// The entries so far; shared, not copied.
    #[must_use]
    pub fn entries(&self) -> Arc<Vec<ModelMessage>> {
        if self.deferred.is_empty() {
            return self.entries.clone();
        }
        Arc::new(self.entries.iter().chain(&self.deferred).cloned().collect())
    }

    #[must_use]
    pub fn replies(&self) -> Replies {
        self.replies
    }

    /// The size in bytes, as a model with this context would read it.
    #[must_use]
    pub fn size(&self, context_tokens: u64) -> usize {
        fit::size(&self.entries, context_tokens)
    }

    /// Number of user messages after the newest reply.
    #[must_use]
    pub fn unanswered(&self) -> usize {
        self.unanswered
    }

    #[must_use]
    pub fn has_grown(&self) -> bool {
        self.grown
    }

    /// Whether earlier messages are missing that no compaction summarized.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    pub fn add(&mut self, message: &Message) {
        if let Some(Notice::Compaction(_)) = message.body.notice() {
            return self.compact(&message.content);
        }
        self.grown |= message.author == Author::Assistant;
        self.unanswered += usize::from(message.author == Author::User);
        let before = self.entries.len();
        self.append(message);
        if let Some(ModelMessage::Assistant { mode, .. }) = self.entries.get(before) {
            match mode {
                Mode::Plan => self.replies.plan += 1,
                Mode::Act => self.replies.act += 1,
            }
            (self.newest, self.unanswered) = (before, 0);
        }
    }

    /// Replaces everything by a summary, except what the model has not answered yet: the user's newest messages, and the
    /// newest calls with their results.
    fn compact(&mut self, summary: &str) {
        let entries = Arc::make_mut(&mut self.entries);
        let is_over = matches!(entries.get(self.newest), Some(ModelMessage::Assistant { calls, .. }) if calls.is_empty());
        let tail = self.newest + usize::from(is_over);
        entries.splice(..tail, [ModelMessage::User(summary.to_owned())]);
        self.question_results.retain(|_, place| *place >= tail);
        self.question_results.values_mut().for_each(|place| *place = *place + 1 - tail);
        self.newest = 1;
        self.grown = false;
        self.is_cut = false;
    }

    fn append(&mut self, message: &Message) {
        let entries = Arc::make_mut(&mut self.entries);
        match &message.body {
            MessageBody::ToolCall(call) => {
                push_reply(entries, message, None, Some(model_call(call)));
                self.open.insert(call.call_id);
            }
            // A plan that the user edited is a record of the server.
            MessageBody::Plan(version) if version.is_edited => self.push_message(message),
            MessageBody::AssistantText(_) | MessageBody::Plan(_) => push_reply(entries, message, Some(&reply_text(message)), None),
            MessageBody::Question(card) => {
                self.questions.insert(card.question_id, card.questions.clone());
                // A question in JSON is the reply itself. The server's cards are not the model's words; their outcome is in the
                // results.
                if card.reply.id == Some(message.id) {
                    push_reply(entries, message, Some(&reply_text(message)), None);
                }
            }
            MessageBody::ToolResult(result) => match result.question_id {
                Some(question) => {
                    self.question_results.insert(question, entries.len());
                    self.push_result(result.call_id, NO_ANSWER);
                }
                None => self.push_result(result.call_id, &message.content),
            },
            MessageBody::UserText(_) | MessageBody::Answer(_) | MessageBody::Notice(_) => self.push_message(message),
            MessageBody::Unknown(unknown) => match (unknown.result_of, message.author) {
                (Some(call), _) => self.push_result(call, &message.content),
                (None, Author::Assistant) => push_reply(entries, message, Some(&message.content), None),
                (None, Author::User | Author::System | Author::Tool) => self.push_message(message),
            },
        }
        if self.open.is_empty() {
            Arc::make_mut(&mut self.entries).append(&mut self.deferred);
        }
    }

    /// The result of a call. No model accepts a result without its call.
    fn push_result(&mut self, call: CallId, text: &str) {
        if self.open.remove(&call) {
            let result = ModelMessage::ToolResult { call_id: call.to_string(), text: text.to_owned() };
            Arc::make_mut(&mut self.entries).push(result);
        }
    }

    /// A message of the user or the server.
    fn push_message(&mut self, message: &Message) {
        let entries = Arc::make_mut(&mut self.entries);
        let asked = answered_question(message).and_then(|question| self.question_results.get(&question)).copied();
        match asked.and_then(|place| entries.get_mut(place)) {
            // The model reads the answer only as the result of its call.
            Some(ModelMessage::ToolResult { text, .. }) => *text = message_text(message, &self.questions),
            Some(ModelMessage::User(_) | ModelMessage::Image(_) | ModelMessage::Assistant { .. }) | None => {
                let said = if self.open.is_empty() { &mut *entries } else { &mut self.deferred };
                said.push(ModelMessage::User(message_text(message, &self.questions)));
                said.extend(message.images().iter().cloned().map(ModelMessage::Image));
            }
        }
    }
}

/// Text and calls of one reply form one entry.
fn push_reply(out: &mut Vec<ModelMessage>, message: &Message, said: Option<&str>, call: Option<ModelCall>) {
    let mode = message.agent_role.map_or(Mode::Act, Role::mode);
    let none = ReplyPart::default();
    let reply = message.body.reply().unwrap_or(&none);
    // A plan that `write_plan` stored is already in that call's arguments.
    let said = said.filter(|_| message.body.call_id().is_none());
    match out.last_mut() {
        Some(ModelMessage::Assistant { text, calls, native, .. }) => {
            text.push_str(said.unwrap_or_default());
            calls.extend(call);
            // Native data is only valid for a whole reply of one model.
            native.take_if(|native| Some(native.reply) != reply.id);
        }
        Some(ModelMessage::User(_) | ModelMessage::Image(_) | ModelMessage::ToolResult { .. }) | None => {
            if said.is_some() || call.is_some() {
                let (text, calls) = (said.unwrap_or_default().to_owned(), call.into_iter().collect());
                out.push(ModelMessage::Assistant { mode, text, calls, native: native_of(reply) });
            }
        }
    }
}

fn native_of(reply: &ReplyPart) -> Option<Native> {
    Some(Native { model: reply.model.clone().unwrap_or_default(), reply: reply.id?, value: reply.native.clone()? })
}

fn model_call(call: &ToolCall) -> ModelCall {
    ModelCall { id: call.call_id.to_string(), tool: call.tool.clone(), args: call.args_text() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{answer, call, card, id, notice, result, result_with, say, user, with_images};
    use planwright_protocol::message::{CompactionFacts, CompactionNotice, ToolOutcome, ToolResult};
    use serde_json::json;

    fn name(name: &str) -> String {
        id::<CallId>(name).to_string()
    }

    fn model_messages(history: &[Message]) -> Vec<ModelMessage> {
        let mut conversation = Conversation::default();
        for message in history {
            conversation.add(message);
        }
        conversation.entries().to_vec()
    }

    #[test]
    fn an_answer_is_the_result_of_the_call_that_asked_and_stands_nowhere_else() {
        let mut pending = result_with("a", ToolOutcome::Succeeded(None), "question_pending");
        if let MessageBody::ToolResult(ToolResult { question_id, .. }) = &mut pending.body {
            *question_id = Some(id("q"));
        }
        let asked = [call("a", "ask_user", ""), pending, card("q", vec![], "", "Which?")];
        let answer = answer("q", json!({}), "[Answered: staging]");
        let other = user("never mind");
        let result = |text: &str| ModelMessage::ToolResult { call_id: name("a"), text: text.into() };
        assert_eq!(model_messages(&[&asked[..], &[answer]].concat())[1..], [result("[Answered: staging]")]);
        assert_eq!(model_messages(&[&asked[..], &[other]].concat())[1..], [result(NO_ANSWER), ModelMessage::User("never mind".into())]);
    }

    #[test]
    fn a_card_of_the_server_is_not_taken_for_words_of_the_model() {
        let call = |id: &str| call(id, "rm", "r");
        let mut conversation = Conversation::default();
        for message in [call("a"), call("b"), result("a"), card("q", vec![], "r", "Allow `rm` to run?"), result("b")] {
            conversation.add(&message);
        }
        assert_eq!((conversation.entries().len(), conversation.replies().plan), (3, 1));
        let mut own = card("p", vec![], "", "Which?");
        if let MessageBody::Question(card) = &mut own.body {
            card.reply = ReplyPart::accompanying(Some(own.id));
        }
        conversation.add(&own);
        assert_eq!(conversation.replies().plan, 2, "a question in JSON is a reply");
    }

    #[test]
    fn a_long_answer_reaches_the_model_whole() {
        let long = "x".repeat(2_000);
        for answer in [long.as_str(), "two\nlines"] {
            let message = self::answer("q", json!({ "a": answer }), "[Answered: …]");
            let [ModelMessage::User(text)] = &model_messages(&[message])[..] else { panic!("one message") };
            assert!(text.contains(&json!(answer).to_string()), "{text}");
        }
    }

    #[test]
    fn what_the_user_writes_during_a_call_comes_after_its_result() {
        let call = |id: &str| call(id, "read", "");
        let history = [user("do it"), say("", "Looking."), call("a"), call("b"), user("hurry"), result("a"), result("b"), say("", "Done.")];
        let asked = |id: &str| ModelCall { id: name(id), tool: "read".into(), args: json!({"path": id}).to_string() };
        assert_eq!(
            model_messages(&history),
            [
                ModelMessage::User("do it".into()),
                ModelMessage::Assistant { mode: Mode::Plan, text: "Looking.".into(), calls: vec![asked("a"), asked("b")], native: None },
                ModelMessage::ToolResult { call_id: name("a"), text: "ok".into() },
                ModelMessage::ToolResult { call_id: name("b"), text: "ok".into() },
                ModelMessage::User("hurry".into()),
                ModelMessage::Assistant { mode: Mode::Plan, text: "Done.".into(), calls: vec![], native: None },
            ]
        );
    }

    #[test]
    fn an_image_that_nobody_has_answered_yet_is_seen_after_a_summary_and_an_older_one_is_not() {
        let with_image = |sum: &str| with_images("Look", &[sum]);
        let reply = say("1", "A duck.");
        let facts = CompactionFacts { tokens_before: 1, by_model: true };
        let summary = notice(Notice::Compaction(CompactionNotice { facts, read_up_to: None }), "Ducks.");
        let entries = model_messages(&[with_image("old"), reply, with_image("new"), summary]);
        let sums: Vec<&str> = entries
            .iter()
            .filter_map(|entry| if let ModelMessage::Image(image) = entry { Some(image.sha256.as_str()) } else { None })
            .collect();
        assert_eq!((sums, &entries[0]), (vec!["new"], &ModelMessage::User("Ducks.".to_owned())));
    }
}
