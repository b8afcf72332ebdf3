//! Following a chat: what happened since, then what happens, without hole or duplicate.

use crate::channel::Since;
use crate::chat_feed::{ChatFeed, EventLog, Moment, PartialAnswer};
use crate::frame::Frame;
use crate::unsent::{Held, Unsent};
use planwright_protocol::{ChatId, Envelope, Event, Problem, Timestamp};
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::sync::{mpsc, watch};

/// How many stored events are read at a time, and how many bytes of them unless one alone has more: a client that stops
/// reading holds no more than these.
const PAGE: u32 = 32;
const PAGE_BYTES: u64 = 128 << 10;
/// A client that is further behind than this many stored events draws the chat anew.
const MOST_BEHIND: u32 = 10_000;

pub struct Follower {
    chat: Arc<dyn EventLog>,
    news: watch::Receiver<()>,
    /// Read from the store, and not handed out yet.
    ready: VecDeque<Arc<Frame>>,
    /// The number of the newest event handed out.
    last: u64,
    /// What is still to be read from the store before the live events take over.
    catching_up: Option<Box<Moment>>,
    unsent: Unsent,
    /// The room for `ready` and for the event handed out last, which may not be sent yet.
    held: Option<Held>,
}

/// What a follower has at once.
pub enum Next {
    Frame(Arc<Frame>),
    /// Nothing yet.
    Nothing,
    /// The chat is deleted.
    Gone,
}

impl Follower {
    /// Begins after the event of this number; 0 for all there is.
    ///
    /// # Errors
    /// The store can't be read.
    pub async fn after(chat: Arc<impl EventLog + 'static>, last: u64) -> Result<Self, Problem> {
        let newest = chat.newest();
        let (news, unsent) = (chat.feed().channel.news(), Unsent::default());
        let mut follower = Self { news, chat, ready: VecDeque::new(), last, catching_up: None, unsent, held: None };
        let is_unknown = last > newest || (last > 0 && last < newest && follower.is_far_behind().await?);
        if is_unknown {
            follower.reset(newest);
        }
        Ok(follower)
    }

    /// Begins with what happens from now on.
    pub async fn from_now(chat: Arc<impl EventLog + 'static>) -> Result<Self, Problem> {
        let newest = chat.newest();
        Self::after(chat, newest).await
    }

    /// Counts what the client has not read yet.
    #[must_use]
    pub fn counted(mut self, unsent: Unsent) -> Self {
        self.unsent = unsent;
        self
    }

    /// The next event; `None` when the chat is gone.
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

    /// The events, read by a task of its own: waiting for the next one can't be broken off without losing some.
    /// Ends with the chat, or with the error that the store can't be read.
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

    /// What there is without waiting for something to happen.
    pub(crate) async fn take(&mut self) -> Result<Next, Problem> {
        loop {
            if let Some(frame) = self.ready.pop_front() {
                self.last = frame.seq;
                return Ok(Next::Frame(frame));
            }
            // Whoever asks for more has sent what came before.
            self.held = None;
            if let Some(moment) = self.catching_up.take() {
                Box::pin(self.catch_up(moment)).await?;
                continue;
            }
            // Marked as seen before looking, so that what comes between the two is news.
            self.news.mark_unchanged();
            match self.feed().channel.since(self.last) {
                Since::Frame(number, frame) => {
                    self.held = self.unsent.hold(frame.size()).await?;
                    self.last = number;
                    return Ok(Next::Frame(frame));
                }
                Since::TooOld => {
                    self.catching_up = Some(Box::new(self.chat.moment().await?));
                }
                Since::Nothing if self.feed().is_closed() => return Ok(Next::Gone),
                Since::Nothing => return Ok(Next::Nothing),
            }
        }
    }

    /// Waits until looking again may be worth it.
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

    /// Tells the client to draw the chat anew: its id is from another database, or from too long ago.
    fn reset(&mut self, seq: u64) {
        let envelope = Envelope { event: Event::Reset {}, seq, at: Timestamp::now() };
        self.ready.extend(Frame::of(self.feed().source, &envelope));
        self.last = seq;
    }

    async fn is_far_behind(&self) -> Result<bool, Problem> {
        if !matches!(self.feed().channel.since(self.last), Since::TooOld) {
            return Ok(false);
        }
        let behind = self.chat.store().count_events_after(self.feed().source.chat, self.last, MOST_BEHIND + 1).await?;
        Ok(behind > u64::from(MOST_BEHIND))
    }

    /// Reads a page of the store; at the end of the last one comes the answer that is being written.
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
            // All up to here is known, also where the last numbers were of events that are not stored.
            None if self.ready.is_empty() => self.last = moment.seq,
            None => {}
        }
        Ok(())
    }
}
