//! What is told to those who listen before it is stored, or without being stored at all.

use super::{Change, Chat, Live, invalid};
use crate::agent::Agent;
use crate::view::Partial;
use planwright_protocol::{CallId, ChatState, Envelope, Event, MessageId, Problem, Role, Timestamp};

/// How much is kept of what a command prints, while it runs.
const MOST_PRINTED: usize = 16 << 10;

impl Chat {
    /// Says what the chat is doing. Costs no commit of its own: after a crash the run finds its place by its messages.
    ///
    /// # Errors
    /// The mode does not have this state.
    pub async fn show(&self, state: impl FnOnce(Role) -> ChatState) -> Result<(), Problem> {
        let mut live = self.live.lock().await;
        let role = live.row.config.role;
        let state = live.row.state.enter(state(role), role.mode()).map_err(invalid)?;
        if state != live.row.state {
            live.row.state = state;
            self.publish_unstored(&mut live, Event::StateChanged { state });
        }
        Ok(())
    }

    /// Publishes what is stored with the next change.
    pub async fn tell(&self, events: impl IntoIterator<Item = Event>) {
        let mut live = self.live.lock().await;
        for event in events {
            self.publish_unstored(&mut live, event);
        }
    }

    pub(super) fn publish_unstored(&self, live: &mut Live, event: Event) {
        live.seq += 1;
        let envelope = Envelope { event, seq: live.seq, at: Timestamp::now() };
        self.feed.publish(&envelope);
        live.unstored.push(envelope);
    }

    /// For those who read the store next.
    pub(super) async fn store_all(&self, live: &mut Live) -> Result<(), Problem> {
        if live.unstored.is_empty() {
            return Ok(());
        }
        self.commit(live, Change::default(), |_| {}).await
    }

    /// Publishes an event without storing it.
    pub(crate) async fn mention(&self, event: Event) -> Result<(), Problem> {
        let mut live = self.live.lock().await;
        let seq = self.next_number(&mut live).await?;
        self.feed.publish(&Envelope { event, seq, at: Timestamp::now() });
        Ok(())
    }

    /// Publishes what a command prints without storing it; its end is kept for those who come before the result does.
    pub(crate) async fn prints(&self, call_id: CallId, text: String) -> Result<(), Problem> {
        let mut live = self.live.lock().await;
        let seq = self.next_number(&mut live).await?;
        let printed = live.printed.entry(call_id).or_default();
        printed.push_str(&text);
        let surplus = printed.len().saturating_sub(MOST_PRINTED);
        printed.drain(..printed.ceil_char_boundary(surplus));
        self.feed.publish(&Envelope { event: Event::ToolOutput { call_id, text }, seq, at: Timestamp::now() });
        Ok(())
    }

    /// Publishes a piece of an answer without storing it.
    pub async fn delta(&self, by: Agent, message_id: MessageId, text: String) -> Result<(), Problem> {
        let mut live = self.live.lock().await;
        let seq = self.next_number(&mut live).await?;
        let partial = live.partial.get_or_insert_with(|| Partial::of(message_id, by));
        let offset = partial.add(&text);
        self.feed.publish(&Envelope { event: Event::TextDelta { message_id, offset, text }, seq, at: Timestamp::now() });
        Ok(())
    }

    /// A number for an event that is not stored.
    pub(super) async fn next_number(&self, live: &mut Live) -> Result<u64, Problem> {
        if live.seq + 1 >= live.row.seq_ceiling {
            self.commit(live, Change::default(), |_| {}).await?;
        }
        live.seq += 1;
        Ok(live.seq)
    }
}
