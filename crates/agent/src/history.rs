//! A chat's history as a model reads it.

use crate::compaction::COMPACTION;
use crate::fit;
use crate::provider::{ModelCall, ModelMessage, Native};
use crate::render::{Asked, answered_question, heard, questions_of, reply_text};
use planwright_protocol::{Author, Message, MessageType, Mode, Role};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// What a model reads as the result of a call that asked, until there is an answer.
const NO_ANSWER: &str = "The user did not answer this, and wrote something else instead.";

/// The conversation, in the order every wire format asks for: a reply's calls are followed by their
/// results, and what the user wrote meanwhile comes after those. Grows with the history, message by message.
#[derive(Clone, Debug, Default)]
pub struct Conversation {
    entries: Arc<Vec<ModelMessage>>,
    /// Calls that have no result yet.
    open: usize,
    /// What was said while calls were open.
    waiting: Vec<ModelMessage>,
    /// Where the results of calls stand that asked, by their questions.
    asked: HashMap<String, usize>,
    /// What was asked, by the questions' ids.
    questions: Asked,
    replies: Replies,
    /// Where the newest reply stands; if there is none, where all begins that was said since the conversation was summed up.
    newest: usize,
    /// How many messages of the user came after that.
    unanswered: usize,
    /// Whether the model has replied since the conversation was last summed up.
    grown: bool,
}

/// How often the model has replied in this chat, also where that was summed up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Replies {
    pub plan: usize,
    pub act: usize,
}

/// A guess that counts rather too many tokens than too few, for most languages.
pub(crate) const BYTES_OF_A_TOKEN: usize = 3;

/// How many tokens so many bytes are.
#[must_use]
pub fn estimated(bytes: usize) -> u64 {
    (bytes / BYTES_OF_A_TOKEN) as u64
}

impl Conversation {
    /// As it is now; shared, not copied.
    #[must_use]
    pub fn entries(&self) -> Arc<Vec<ModelMessage>> {
        if self.waiting.is_empty() {
            return self.entries.clone();
        }
        Arc::new(self.entries.iter().chain(&self.waiting).cloned().collect())
    }

    #[must_use]
    pub fn replies(&self) -> Replies {
        self.replies
    }

    /// In bytes, as a model with this context would read it.
    #[must_use]
    pub fn size(&self, context_tokens: u64) -> usize {
        fit::size(&self.entries, context_tokens)
    }

    /// How many messages of the user came after the newest reply.
    #[must_use]
    pub fn unanswered(&self) -> usize {
        self.unanswered
    }

    #[must_use]
    pub fn has_grown(&self) -> bool {
        self.grown
    }

    pub fn add(&mut self, message: &Message) {
        if message.metadata.contains_key(COMPACTION) {
            return self.sum_up(&message.content);
        }
        self.grown |= message.author == Author::Assistant;
        self.unanswered += usize::from(message.author == Author::User);
        let before = self.entries.len();
        self.take_in(message);
        if let Some(ModelMessage::Assistant { mode, .. }) = self.entries.get(before) {
            match mode {
                Mode::Plan => self.replies.plan += 1,
                Mode::Act => self.replies.act += 1,
            }
            (self.newest, self.unanswered) = (before, 0);
        }
    }

    /// Puts a summary in the place of everything but what nobody has answered yet: the user's newest words, and the newest
    /// calls with their results.
    fn sum_up(&mut self, summary: &str) {
        let entries = Arc::make_mut(&mut self.entries);
        let is_over = matches!(entries.get(self.newest), Some(ModelMessage::Assistant { calls, .. }) if calls.is_empty());
        let tail = self.newest + usize::from(is_over);
        entries.splice(..tail, [ModelMessage::User(summary.to_owned())]);
        self.asked.retain(|_, place| *place >= tail);
        self.asked.values_mut().for_each(|place| *place = *place + 1 - tail);
        self.newest = 1;
        self.grown = false;
    }

    fn take_in(&mut self, message: &Message) {
        if message.message_type == MessageType::Question {
            self.questions.insert(message.meta("question_id").to_owned(), questions_of(message));
        }
        let entries = Arc::make_mut(&mut self.entries);
        match (message.author, message.message_type) {
            (Author::Assistant, MessageType::ToolCall) => {
                push_reply(entries, message, None, Some(model_call(message)));
                self.open += 1;
            }
            (Author::Assistant, MessageType::Text | MessageType::Plan) => push_reply(entries, message, Some(&reply_text(message)), None),
            // A question in JSON is the reply itself; a card belongs to a reply too, but stands beside it.
            (Author::Assistant, MessageType::Question) if message.meta("reply") == message.id.to_string() => {
                push_reply(entries, message, Some(&reply_text(message)), None);
            }
            // The server's own cards are not the model's words; what came of them is in the results.
            (Author::Assistant | Author::System, MessageType::Question) | (Author::Assistant, MessageType::ToolResult) => {}
            (Author::Tool, _) => {
                let question = message.meta("question_id");
                let text = if question.is_empty() { &message.content } else { NO_ANSWER };
                if !question.is_empty() {
                    self.asked.insert(question.to_owned(), entries.len());
                }
                entries.push(ModelMessage::ToolResult { call_id: message.meta("call_id").to_owned(), text: text.to_owned() });
                self.open = self.open.saturating_sub(1);
            }
            (Author::User | Author::System, _) => {
                let asked = answered_question(message).and_then(|question| self.asked.get(question)).copied();
                match asked.and_then(|place| entries.get_mut(place)) {
                    // The model reads the answer as the result of its call, and nowhere else.
                    Some(ModelMessage::ToolResult { text, .. }) => *text = heard(message, &self.questions),
                    Some(ModelMessage::User(_) | ModelMessage::Image(_) | ModelMessage::Assistant { .. }) | None => {
                        let said = if self.open > 0 { &mut self.waiting } else { &mut *entries };
                        said.push(ModelMessage::User(heard(message, &self.questions)));
                        said.extend(message.images().into_iter().map(ModelMessage::Image));
                    }
                }
            }
        }
        if self.open == 0 {
            entries.append(&mut self.waiting);
        }
    }
}

/// Text and calls of one reply are one entry.
fn push_reply(out: &mut Vec<ModelMessage>, message: &Message, said: Option<&str>, call: Option<ModelCall>) {
    let mode = message.agent_role.map_or(Mode::Act, Role::mode);
    // A plan that `write_plan` stored is already in that call's arguments.
    let said = said.filter(|_| message.meta("call_id").is_empty());
    match out.last_mut() {
        Some(ModelMessage::Assistant { text, calls, native, .. }) => {
            text.push_str(said.unwrap_or_default());
            calls.extend(call);
            // Two replies in one entry are no longer what either model said.
            native.take_if(|native| native.reply != message.meta("reply"));
        }
        Some(ModelMessage::User(_) | ModelMessage::Image(_) | ModelMessage::ToolResult { .. }) | None => {
            if said.is_some() || call.is_some() {
                let (text, calls) = (said.unwrap_or_default().to_owned(), call.into_iter().collect());
                out.push(ModelMessage::Assistant { mode, text, calls, native: native_of(message) });
            }
        }
    }
}

/// The key under which a reply's first message keeps what its model wants back.
pub const NATIVE: &str = "native";

fn native_of(message: &Message) -> Option<Native> {
    let value = message.metadata.get(NATIVE)?.clone();
    Some(Native { model: message.meta("model").to_owned(), reply: message.meta("reply").to_owned(), value })
}

fn model_call(message: &Message) -> ModelCall {
    ModelCall { id: message.meta("call_id").to_owned(), tool: message.meta("tool").to_owned(), args: call_args(message) }
}

/// The arguments of a stored call, as the model wrote them. Those that were not JSON are kept as text.
#[must_use]
pub fn call_args(message: &Message) -> String {
    match message.metadata.get("args") {
        Some(Value::String(raw)) => raw.clone(),
        Some(args) => args.to_string(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use planwright_protocol::ChatId;
    use serde_json::json;

    fn message(author: Author, message_type: MessageType, content: &str) -> Message {
        Message::new(ChatId::generate(), author, message_type, content).by(Role::Planner)
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
        let asked = [
            message(Author::Assistant, MessageType::ToolCall, "").with("call_id", "a").with("tool", "ask_user").with("args", json!({})),
            message(Author::Tool, MessageType::ToolResult, "question_pending").with("call_id", "a").with("question_id", "q"),
            message(Author::Assistant, MessageType::Question, "Which?").with("question_id", "q"),
        ];
        let answer = message(Author::User, MessageType::Text, "[Answered: staging]").with("question_answer", json!({"question_id": "q"}));
        let other = message(Author::User, MessageType::Text, "never mind");
        let result = |text: &str| ModelMessage::ToolResult { call_id: "a".into(), text: text.into() };
        assert_eq!(model_messages(&[&asked[..], &[answer]].concat())[1..], [result("[Answered: staging]")]);
        assert_eq!(model_messages(&[&asked[..], &[other]].concat())[1..], [result(NO_ANSWER), ModelMessage::User("never mind".into())]);
    }

    #[test]
    fn a_card_of_the_server_is_not_taken_for_words_of_the_model() {
        let call =
            |id: &str| message(Author::Assistant, MessageType::ToolCall, "").with("call_id", id).with("tool", "rm").with("reply", "r");
        let result = |id: &str| message(Author::Tool, MessageType::ToolResult, "ok").with("call_id", id);
        let card = message(Author::Assistant, MessageType::Question, "Allow `rm` to run?").with("reply", "r");
        let mut conversation = Conversation::default();
        for message in [call("a"), call("b"), result("a"), card, result("b")] {
            conversation.add(&message);
        }
        assert_eq!((conversation.entries().len(), conversation.replies().plan), (3, 1));
        let own = message(Author::Assistant, MessageType::Question, "Which?");
        let own = own.clone().with("reply", own.id.to_string());
        conversation.add(&own);
        assert_eq!(conversation.replies().plan, 2, "a question in JSON is a reply");
    }

    #[test]
    fn a_long_answer_reaches_the_model_whole() {
        let long = "x".repeat(2_000);
        for answer in [long.as_str(), "two\nlines"] {
            let message =
                message(Author::User, MessageType::Text, "[Answered: …]").with("question_answer", json!({"answers": {"a": answer}}));
            let [ModelMessage::User(text)] = &model_messages(&[message])[..] else { panic!("one message") };
            assert!(text.contains(&json!(answer).to_string()), "{text}");
        }
    }

    #[test]
    fn what_the_user_writes_during_a_call_comes_after_its_result() {
        let call = |id: &str| {
            message(Author::Assistant, MessageType::ToolCall, "").with("call_id", id).with("tool", "read").with("args", json!({"path": id}))
        };
        let result = |id: &str| message(Author::Tool, MessageType::ToolResult, "ok").with("call_id", id);
        let history = [
            message(Author::User, MessageType::Text, "do it"),
            message(Author::Assistant, MessageType::Text, "Looking."),
            call("a"),
            call("b"),
            message(Author::User, MessageType::Text, "hurry"),
            result("a"),
            result("b"),
            message(Author::Assistant, MessageType::Text, "Done."),
        ];
        let asked = |id: &str| ModelCall { id: id.into(), tool: "read".into(), args: json!({"path": id}).to_string() };
        assert_eq!(
            model_messages(&history),
            [
                ModelMessage::User("do it".into()),
                ModelMessage::Assistant { mode: Mode::Plan, text: "Looking.".into(), calls: vec![asked("a"), asked("b")], native: None },
                ModelMessage::ToolResult { call_id: "a".into(), text: "ok".into() },
                ModelMessage::ToolResult { call_id: "b".into(), text: "ok".into() },
                ModelMessage::User("hurry".into()),
                ModelMessage::Assistant { mode: Mode::Plan, text: "Done.".into(), calls: vec![], native: None },
            ]
        );
    }

    #[test]
    fn an_image_that_nobody_has_answered_yet_is_seen_after_a_summary_and_an_older_one_is_not() {
        let with_image = |sum: &str| {
            let image = json!({"sha256": sum, "mime_type": "image/png", "size": 1});
            message(Author::User, MessageType::Text, "Look").with("images", json!([image]))
        };
        let reply = message(Author::Assistant, MessageType::Text, "A duck.").with("reply", "1");
        let summary = message(Author::System, MessageType::Text, "Ducks.").with(COMPACTION, json!({}));
        let entries = model_messages(&[with_image("old"), reply, with_image("new"), summary]);
        let sums: Vec<&str> = entries
            .iter()
            .filter_map(|entry| if let ModelMessage::Image(image) = entry { Some(image.sha256.as_str()) } else { None })
            .collect();
        assert_eq!((sums, &entries[0]), (vec!["new"], &ModelMessage::User("Ducks.".to_owned())));
    }
}
