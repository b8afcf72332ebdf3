//! Event numbers, and events that the chat publishes without storing them.
//!
//! Deltas must not wait for the database, so they take their numbers here and bypass the owner. During an append its events
//! already have numbers; later events are held until it has ended, so that followers get all events in order.

use crate::view::StreamedReply;
use planwright_feed::ChatFeed;
use planwright_protocol::Agent;
use planwright_protocol::{CallId, Envelope, Event, Message, MessageBody, MessageId, Timestamp};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum number of events that wait for the end of an append. Publishers of more must wait.
const MAX_HELD: usize = 256;
/// Maximum length of a running command's output that snapshots show.
const MAX_OUTPUT: usize = 16 << 10;

pub struct Sequence {
    feed: Arc<ChatFeed>,
    numbers: Mutex<Numbers>,
}

struct Numbers {
    /// The newest used number.
    last: u64,
    /// The newest number that followers can have.
    published: u64,
    /// The database has reserved numbers up to here.
    ceiling: u64,
    /// Published events that the next append stores. They may be lost in a crash.
    unstored: Vec<Envelope>,
    /// Whether an append is running, and the events that wait for its end.
    is_appending: bool,
    held: Vec<Envelope>,
    partial: Option<StreamedReply>,
    /// The output of commands without a result, by call.
    printed: BTreeMap<CallId, String>,
}

/// The numbers of one append.
pub struct Reserved {
    /// Events that were published earlier and are stored now.
    pub unstored: Vec<Envelope>,
    /// The events of the append.
    pub new: Vec<Envelope>,
    pub last: u64,
}

/// The parts of a chat that a client sees besides the stored messages.
pub struct LiveParts {
    pub seq: u64,
    pub partial: Option<StreamedReply>,
    pub printed: BTreeMap<CallId, String>,
}

impl Sequence {
    /// Numbers up to the ceiling may have been used before a crash.
    pub fn beginning_after(ceiling: u64, feed: Arc<ChatFeed>) -> Self {
        let numbers = Numbers {
            last: ceiling,
            published: ceiling,
            ceiling,
            unstored: Vec::new(),
            is_appending: false,
            held: Vec::new(),
            partial: None,
            printed: BTreeMap::new(),
        };
        Self { feed, numbers: Mutex::new(numbers) }
    }

    /// The newest number that followers can have.
    pub fn published(&self) -> u64 {
        self.lock().published
    }

    pub fn has_unstored(&self) -> bool {
        !self.lock().unstored.is_empty()
    }

    pub fn live_parts(&self) -> LiveParts {
        let numbers = self.lock();
        LiveParts { seq: numbers.last, partial: numbers.partial.clone(), printed: numbers.printed.clone() }
    }

    pub fn take_partial(&self) -> Option<StreamedReply> {
        self.lock().partial.take()
    }

    /// Publishes events now; the next append stores them. Only for facts that a run derives again after a crash: its state, and
    /// the start of a read-only call.
    pub fn publish_unstored(&self, events: impl IntoIterator<Item = Event>) {
        let mut numbers = self.lock();
        for event in events {
            let is_found_again = matches!(event, Event::StateChanged { .. } | Event::MessageUpdated { .. });
            debug_assert!(is_found_again, "{} is published before it is stored", event.name());
            numbers.last += 1;
            let envelope = Envelope { event, seq: numbers.last, at: Timestamp::now() };
            numbers.unstored.push(envelope.clone());
            self.publish_or_hold(&mut numbers, envelope);
        }
    }

    /// Publishes an event that is never stored. Returns `false` if the caller must first wait for the owner: the reserved numbers
    /// are used up, or too many events wait for an append.
    #[cfg(test)]
    pub fn publish_transient(&self, event: Event) -> bool {
        self.transient(|_| event)
    }

    /// The same for a part of an answer.
    pub fn publish_delta(&self, by: Agent, message_id: MessageId, text: &str) -> bool {
        self.transient(|numbers| {
            let partial = numbers.partial.get_or_insert_with(|| StreamedReply::of(message_id, by));
            let offset = partial.add(text);
            Event::TextDelta { message_id, offset, text: text.to_owned() }
        })
    }

    /// The same for the model's reasoning, which is stored even if the answer is never finished.
    pub fn publish_reasoning(&self, by: Agent, message_id: MessageId, text: &str) -> bool {
        self.transient(|numbers| {
            let partial = numbers.partial.get_or_insert_with(|| StreamedReply::of(message_id, by));
            let offset = partial.reasoning.add(text);
            Event::ReasoningDelta { message_id, offset, text: text.to_owned() }
        })
    }

    /// The same for the output of a running command; snapshots show its end.
    pub fn publish_output(&self, call_id: CallId, text: &str) -> bool {
        self.transient(|numbers| {
            let printed = numbers.printed.entry(call_id).or_default();
            printed.push_str(text);
            let surplus = printed.len().saturating_sub(MAX_OUTPUT);
            printed.drain(..printed.ceil_char_boundary(surplus));
            Event::ToolOutput { call_id, text: text.to_owned() }
        })
    }

    fn transient(&self, event: impl FnOnce(&mut Numbers) -> Event) -> bool {
        let mut numbers = self.lock();
        if numbers.last + 1 >= numbers.ceiling || numbers.held.len() >= MAX_HELD {
            return false;
        }
        numbers.last += 1;
        let envelope = Envelope { event: event(&mut numbers), seq: numbers.last, at: Timestamp::now() };
        self.publish_or_hold(&mut numbers, envelope);
        true
    }

    /// Gives the partial answer its own number, so that numbers grow for a client that reconnects.
    pub fn number_partial(&self) -> bool {
        let mut numbers = self.lock();
        if numbers.partial.is_none() {
            return true;
        }
        let is_left = numbers.last + 1 < numbers.ceiling;
        if is_left {
            numbers.last += 1;
            numbers.published = numbers.last;
        }
        is_left
    }

    /// Begins an append: numbers its events, and holds later ones.
    pub fn begin_append(&self, events: Vec<Event>) -> Reserved {
        let mut numbers = self.lock();
        let at = planwright_protocol::time::now();
        let first = numbers.last + 1;
        numbers.last += events.len() as u64;
        numbers.is_appending = true;
        let new = events.into_iter().zip(first..).map(|(event, seq)| Envelope { event, seq, at }).collect();
        Reserved { unstored: numbers.unstored.clone(), new, last: numbers.last }
    }

    /// Ends a stored append: publishes its events, then the held ones.
    pub fn end_append(&self, reserved: Reserved, ceiling: u64) {
        let mut numbers = self.lock();
        numbers.ceiling = ceiling;
        numbers.unstored.drain(..reserved.unstored.len());
        for envelope in &reserved.new {
            if let Event::MessageCreated { message } = &envelope.event {
                numbers.forget_parts_of(message);
            }
            self.feed.publish(envelope);
        }
        self.release(&mut numbers);
    }

    /// Ends a failed append. Its numbers stay unused.
    pub fn abandon_append(&self) {
        self.release(&mut self.lock());
    }

    fn release(&self, numbers: &mut Numbers) {
        numbers.is_appending = false;
        numbers.published = numbers.last;
        for envelope in std::mem::take(&mut numbers.held) {
            self.feed.publish(&envelope);
        }
    }

    fn publish_or_hold(&self, numbers: &mut Numbers, envelope: Envelope) {
        if numbers.is_appending {
            numbers.held.push(envelope);
        } else {
            numbers.published = envelope.seq;
            self.feed.publish(&envelope);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Numbers> {
        self.numbers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Numbers {
    /// The stored message replaces the streamed parts.
    fn forget_parts_of(&mut self, message: &Message) {
        let reply = message.body.reply().and_then(|reply| reply.id);
        // A reply without text has only calls.
        if self.partial.as_ref().is_some_and(|partial| partial.answer.message_id == message.id || Some(partial.answer.message_id) == reply)
        {
            self.partial = None;
        }
        if let MessageBody::ToolResult(result) = &message.body {
            self.printed.remove(&result.call_id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use planwright_feed::Source;
    use planwright_protocol::message::{AssistantText, ReplyPart};
    use planwright_protocol::{ChatId, ChatState, Role, StepStatus, WorkspaceId};

    fn state() -> Event {
        Event::StateChanged { state: ChatState::Thinking }
    }

    /// A sequence whose last append reserved numbers up to 1000.
    fn sequence() -> Sequence {
        let source = Source { workspace: WorkspaceId::generate(), chat: ChatId::generate() };
        let sequence = Sequence::beginning_after(10, Arc::new(ChatFeed::new(source, 10, Arc::default())));
        assert!(!sequence.publish_transient(state()), "no number is set aside yet");
        let reserved = sequence.begin_append(vec![state()]);
        sequence.end_append(reserved, 1000);
        sequence
    }

    #[test]
    fn events_that_come_during_an_append_are_published_after_it() {
        let sequence = sequence();
        assert_eq!(sequence.published(), 11);
        let reserved = sequence.begin_append(vec![state(), state()]);
        assert!(sequence.publish_transient(state()));
        assert_eq!(sequence.published(), 11, "followers have nothing of the append yet");
        assert_eq!((reserved.new[0].seq, reserved.new[1].seq), (12, 13));
        sequence.end_append(reserved, 1000);
        assert_eq!(sequence.published(), 14);
    }

    #[test]
    fn an_append_that_was_not_stored_leaves_its_numbers_unused() {
        let sequence = sequence();
        sequence.publish_unstored([state()]);
        let reserved = sequence.begin_append(vec![state()]);
        assert_eq!(reserved.unstored.len(), 1);
        sequence.abandon_append();
        assert!(sequence.has_unstored(), "the next append stores it");
        assert_eq!(sequence.begin_append(vec![state()]).new[0].seq, 14);
    }

    #[test]
    fn what_a_model_thought_is_kept_until_its_reply_is_stored_also_if_that_has_calls_only() {
        let sequence = sequence();
        let (id, by) = (MessageId::generate(), Agent { role: Role::Planner, delegation: None });
        assert!(sequence.publish_reasoning(by, id, "Let me "));
        assert!(sequence.publish_reasoning(by, id, "see."));
        let partial = sequence.live_parts().partial.unwrap();
        assert_eq!((partial.answer.text.as_str(), partial.reasoning.stored().as_deref()), ("", Some("Let me see.")));
        let reply = ReplyPart { id: Some(id), ..ReplyPart::default() };
        let said = AssistantText { reply, ..AssistantText::default() };
        let message = Message::new(ChatId::generate(), said, String::new());
        assert_ne!(message.id, id);
        let reserved = sequence.begin_append(vec![Event::MessageCreated { message }]);
        sequence.end_append(reserved, 1000);
        assert!(sequence.take_partial().is_none());
    }

    #[test]
    #[should_panic(expected = "plan_step is published before it is stored")]
    fn what_a_run_does_not_find_out_again_is_not_published_before_it_is_stored() {
        sequence().publish_unstored([Event::PlanStep { step_number: 1, status: StepStatus::Done }]);
    }

    #[test]
    fn whoever_publishes_too_much_during_an_append_waits_for_its_end() {
        let sequence = sequence();
        let reserved = sequence.begin_append(Vec::new());
        assert_eq!((0..2 * MAX_HELD).filter(|_| sequence.publish_transient(state())).count(), MAX_HELD);
        sequence.end_append(reserved, 1000);
        assert!(sequence.publish_transient(state()));
    }
}
