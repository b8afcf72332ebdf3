//! Streams the text of an answer: sends each character once, and holds JSON back until its kind is known.

use planwright_protocol::{Message, MessageId, MessageType};

/// The state of one answer.
#[derive(Debug, Default)]
pub struct AnswerText {
    of: Option<MessageId>,
    /// Number of characters that the client has.
    sent: usize,
    held: String,
    /// Number of characters of reasoning that the client has.
    thought: usize,
}

impl AnswerText {
    /// Adds a delta and returns the text to send now.
    pub fn add_delta(&mut self, message: MessageId, offset: usize, text: &str) -> Option<String> {
        self.turn_to(message);
        let known = self.sent + self.held.chars().count();
        self.held.extend(text.chars().skip(known.saturating_sub(offset)));
        if self.sent == 0 && may_be_json(&self.held) {
            return None;
        }
        self.release()
    }

    pub fn add_reasoning(&mut self, message: MessageId, offset: usize, text: &str) -> Option<String> {
        self.turn_to(message);
        let new: String = text.chars().skip(self.thought.saturating_sub(offset)).collect();
        self.thought += new.chars().count();
        (!new.is_empty()).then_some(new)
    }

    /// Returns the unsent rest of a complete message.
    pub fn finish(&mut self, message: &Message) -> Option<String> {
        let heard = if self.of == Some(message.id) { std::mem::take(self) } else { AnswerText::default() };
        if message.message_type() != MessageType::Text && heard.sent > 0 {
            // Its text was already streamed.
            return None;
        }
        let rest: String = message.content.chars().skip(heard.sent).collect();
        (!rest.is_empty()).then_some(rest)
    }

    fn turn_to(&mut self, message: MessageId) {
        if self.of != Some(message) {
            *self = Self { of: Some(message), ..Self::default() };
        }
    }

    fn release(&mut self) -> Option<String> {
        let text = std::mem::take(&mut self.held);
        self.sent += text.chars().count();
        (!text.is_empty()).then_some(text)
    }
}

/// Whether this may be the beginning of a plan or a question, which is not shown as JSON.
fn may_be_json(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with('{') || text.starts_with("```json") || "```json".starts_with(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use planwright_protocol::message::{AssistantText, PlanVersion, ReplyPart};
    use planwright_protocol::{ChatId, MessageBody, Plan};

    fn whole(id: MessageId, text: &str) -> Message {
        of(id, AssistantText::default(), text)
    }

    fn of(id: MessageId, body: impl Into<MessageBody>, text: &str) -> Message {
        Message { id, ..Message::new(ChatId::generate(), body, text) }
    }

    fn plan() -> PlanVersion {
        PlanVersion {
            plan: Plan::default(),
            plan_file: "/plans/a.plan".to_owned(),
            revision: 1,
            sha256: "00".to_owned(),
            files: None,
            is_edited: false,
            user: None,
            comments: Vec::new(),
            call_id: None,
            reply: ReplyPart::default(),
        }
    }

    #[test]
    fn every_character_is_sent_once_whatever_comes_twice() {
        let (mut answer_text, id) = (AnswerText::default(), MessageId::generate());
        let mut told = String::new();
        for (offset, piece) in [(0, "Grü"), (3, "ße"), (0, "Grüße an"), (8, " alle")] {
            told.extend(answer_text.add_delta(id, offset, piece));
        }
        told.extend(answer_text.finish(&whole(id, "Grüße an alle!")));
        assert_eq!(told, "Grüße an alle!");
        assert_eq!(answer_text.finish(&whole(MessageId::generate(), "Next")), Some("Next".to_owned()));
    }

    #[test]
    fn json_is_held_back_until_it_is_known_what_it_is() {
        let (mut answer_text, id) = (AnswerText::default(), MessageId::generate());
        assert_eq!(answer_text.add_delta(id, 0, "``"), None);
        assert_eq!(answer_text.add_delta(id, 2, "`json\n{\"goal\""), None);
        assert_eq!(answer_text.finish(&of(id, plan(), "Add a farewell")), Some("Add a farewell".to_owned()));
        let id = MessageId::generate();
        assert_eq!(answer_text.add_delta(id, 0, "{\"a\": 1}"), None);
        assert_eq!(answer_text.finish(&whole(id, "{\"a\": 1}")), Some("{\"a\": 1}".to_owned()));
        let id = MessageId::generate();
        assert_eq!(answer_text.add_delta(id, 0, "```rust\nfn"), Some("```rust\nfn".to_owned()));
    }
}
