//! Follows a chat: first the events since a number, then live events, without gaps or duplicates.

use crate::channel::EventsSince;
use crate::chat_feed::{ChatFeed, EventLog, Moment, PartialAnswer};
use crate::distant_chat::not_here;
use crate::frame::Frame;
use crate::unsent::{Held, Unsent};
use planwright_protocol::{ChatId, Envelope, Event, Problem, Timestamp};
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::sync::{mpsc, watch};

/// Maximum number and bytes of stored events per read, unless one event alone is larger: a client that stops reading holds no
/// more than these.
const PAGE: u32 = 32;
const PAGE_BYTES: u64 = 128 << 10;
/// A client that is further behind reloads the chat.
const MAX_BEHIND: u32 = 10_000;

pub struct Follower {
    chat: Arc<dyn EventLog>,
    news: watch::Receiver<()>,
    /// Read from the store, not yet delivered.
    ready: VecDeque<Arc<Frame>>,
    /// The number of the newest delivered event.
    last: u64,
    /// The part of the store to read before live events take over.
    catching_up: Option<Box<Moment>>,
    unsent: Unsent,
    /// The reserved memory for `ready` and for the last delivered event, which may not be sent yet.
    held: Option<Held>,
}

/// What a follower can deliver at once.
pub enum Next {
    Frame(Arc<Frame>),
    /// Nothing yet.
    Nothing,
    /// The chat was deleted.
    Gone,
}

impl Follower {
    /// Starts after the event with this number; 0 for all events.
    ///
    /// # Errors
    /// The store can't be read.
    pub async fn after(chat: Arc<dyn EventLog>, last: u64) -> Result<Self, Problem> {
        let newest = chat.newest();
        let (news, unsent) = (chat.feed().channel.watch_changes(), Unsent::default());
        let mut follower = Self { news, chat, ready: VecDeque::new(), last, catching_up: None, unsent, held: None };
        let is_unknown = last > newest || (last > 0 && last < newest && follower.is_far_behind().await?);
        if is_unknown {
            follower.reset(newest);
        }
        Ok(follower)
    }

    /// Starts with the next event.
    pub async fn from_now(chat: Arc<dyn EventLog>) -> Result<Self, Problem> {
        let newest = chat.newest();
        Self::after(chat, newest).await
    }

    /// Limits the unread events of the client.
    #[must_use]
    pub fn counted(mut self, unsent: Unsent) -> Self {
        self.unsent = unsent;
        self
    }

    /// The next event; `None` when the chat is deleted.
    ///
    /// # Errors
    /// The store can't be read.
    pub async fn next(&mut self) -> Result<Option<Arc<Frame>>, Problem> {
        loop {
            match self.take().await? {
                Next::Frame(frame) => return Ok(Some(frame)),
                Next::Nothing => self.changed().await,
                Next::Gone => return Ok(None),
            }
        }
    }

    /// The events, read by a separate task: cancelling a read would lose events. Ends with the chat, or with the error that the store
    /// can't be read.
    #[must_use]
    pub fn frames(mut self) -> mpsc::Receiver<Result<Arc<Frame>, Problem>> {
        let (sender, frames) = mpsc::channel(64);
        tokio::spawn(async move {
            while let Some(frame) = self.next().await.transpose() {
                let is_last = frame.is_err();
                if sender.send(frame).await.is_err() || is_last {
                    return;
                }
            }
        });
        frames
    }

    /// Everything that is available without waiting.
    pub(crate) async fn take(&mut self) -> Result<Next, Problem> {
        loop {
            if let Some(frame) = self.ready.pop_front() {
                self.last = frame.seq;
                return Ok(Next::Frame(frame));
            }
            // The caller has sent the previous event.
            self.held = None;
            if let Some(moment) = self.catching_up.take() {
                Box::pin(self.catch_up(moment)).await?;
                continue;
            }
            // Marked as seen before reading, so that events in between count as new.
            self.news.mark_unchanged();
            match self.feed().channel.since(self.last) {
                EventsSince::Frame(number, frame) => {
                    self.held = self.unsent.hold(frame.size()).await?;
                    self.last = number;
                    return Ok(Next::Frame(frame));
                }
                EventsSince::TooOld => {
                    self.catching_up = Some(Box::new(self.chat.moment().await?));
                }
                EventsSince::Nothing if self.feed().has_left() => {
                    return Err(not_here());
                }
                EventsSince::Nothing if self.feed().is_closed() => return Ok(Next::Gone),
                EventsSince::Nothing => return Ok(Next::Nothing),
            }
        }
    }

    /// Waits until reading again may succeed.
    pub(crate) async fn changed(&mut self) {
        let feed = self.chat.feed();
        tokio::select! {
            _ = self.news.changed() => {}
            () = feed.closed() => {}
        }
    }

    pub(crate) fn place(&self) -> (ChatId, u64) {
        (self.feed().source.chat, self.last)
    }

    fn feed(&self) -> &ChatFeed {
        self.chat.feed()
    }

    /// Tells the client to reload the chat: its id is from another database, or too old.
    fn reset(&mut self, seq: u64) {
        let envelope = Envelope { event: Event::Reset {}, seq, at: Timestamp::now() };
        self.ready.extend(Frame::of(self.feed().source, &envelope));
        self.last = seq;
    }

    async fn is_far_behind(&self) -> Result<bool, Problem> {
        if !matches!(self.feed().channel.since(self.last), EventsSince::TooOld) {
            return Ok(false);
        }
        let behind = self.chat.store().count_events_after(self.feed().source.chat, self.last, MAX_BEHIND + 1).await?;
        Ok(behind > u64::from(MAX_BEHIND))
    }

    /// Reads a page of the store; the answer in progress follows the last page.
    async fn catch_up(&mut self, moment: Box<Moment>) -> Result<(), Problem> {
        let store = self.chat.store();
        let (count, bytes) = store.events_within(self.feed().source.chat, self.last, PAGE, PAGE_BYTES).await?;
        self.held = self.unsent.hold(usize::try_from(bytes).unwrap_or(usize::MAX)).await?;
        let mut events = store.stored_after(self.feed().source.chat, self.last, count).await?;
        let more = count > 0;
        events.retain(|event| event.seq <= moment.seq);
        let source = self.feed().source;
        self.ready.extend(events.iter().map(|event| Frame::stored(source, event)));
        if more && !events.is_empty() {
            self.catching_up = Some(moment);
            return Ok(());
        }
        match moment.partial {
            Some(PartialAnswer { message_id, text }) => {
                let envelope = Envelope { event: Event::TextDelta { message_id, offset: 0, text }, seq: moment.seq, at: Timestamp::now() };
                self.ready.extend(Frame::of(self.feed().source, &envelope));
            }
            // Everything up to here is known, even if the last numbers belong to events that are not stored.
            None if self.ready.is_empty() => self.last = moment.seq,
            None => {}
        }
        Ok(())
    }
}
