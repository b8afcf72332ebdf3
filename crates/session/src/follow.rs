//! Following a chat: what happened since, then what happens, without hole or duplicate.

use crate::chat::{Chat, Frame, storage};
use crate::view::Partial;
use planwright_protocol::{Envelope, Event, Problem, Timestamp};
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::sync::broadcast::{self, error::RecvError};

/// How many stored events are read at a time.
const PAGE: u32 = 500;

pub struct Follower {
    chat: Arc<Chat>,
    live: broadcast::Receiver<Arc<Frame>>,
    ready: VecDeque<Arc<Frame>>,
    /// The number of the newest event handed out.
    last: u64,
    /// What is still to be read from the store before the live events take over.
    catching_up: Option<CatchUp>,
}

/// The moment at which the live events were joined.
struct CatchUp {
    seq: u64,
    partial: Option<Partial>,
}

impl Follower {
    /// Begins after the event of this number; 0 for all there is.
    ///
    /// # Errors
    /// The store can't be written.
    pub async fn after(chat: Arc<Chat>, last: u64) -> Result<Self, Problem> {
        let mut follower = Self { live: chat.listen(), chat, ready: VecDeque::new(), last, catching_up: None };
        follower.join().await?;
        Ok(follower)
    }

    /// The next event; `None` when the chat is gone.
    ///
    /// # Errors
    /// The store can't be read.
    pub async fn next(&mut self) -> Result<Option<Arc<Frame>>, Problem> {
        loop {
            if let Some(frame) = self.ready.pop_front() {
                self.last = frame.seq;
                return Ok(Some(frame));
            }
            if let Some(moment) = self.catching_up.take() {
                self.catch_up(moment).await?;
                continue;
            }
            let heard = tokio::select! {
                heard = self.live.recv() => heard,
                () = self.chat.gone.cancelled() => return Ok(None),
            };
            match heard {
                Ok(frame) if frame.seq > self.last => self.ready.push_back(frame),
                Ok(_) => {}
                // Too slow: what was missed is in the store.
                Err(RecvError::Lagged(_)) => self.join().await?,
                Err(RecvError::Closed) => return Ok(None),
            }
        }
    }

    /// Subscribes first and looks at the chat after that, so that nothing falls between.
    async fn join(&mut self) -> Result<(), Problem> {
        self.live = self.chat.listen();
        let (seq, partial) = self.chat.moment().await?;
        if self.last > seq {
            // An id from another database, or from before a restore.
            let envelope = Envelope { event: Event::Reset {}, seq, at: Timestamp::now() };
            self.ready.extend(Frame::of(&envelope));
        } else {
            self.catching_up = Some(CatchUp { seq, partial });
        }
        Ok(())
    }

    /// Reads a page of the store; at the end of the last one comes the answer that is being written.
    async fn catch_up(&mut self, moment: CatchUp) -> Result<(), Problem> {
        let mut events = self.chat.store.events_after(self.chat.id, self.last, PAGE).await.map_err(storage)?;
        let more = events.len() == PAGE as usize;
        events.retain(|envelope| envelope.seq <= moment.seq);
        self.ready.extend(events.iter().filter_map(Frame::of));
        if more && !events.is_empty() {
            self.catching_up = Some(moment);
        } else if let Some(Partial { message_id, text, .. }) = moment.partial {
            let envelope = Envelope { event: Event::TextDelta { message_id, offset: 0, text }, seq: moment.seq, at: Timestamp::now() };
            self.ready.extend(Frame::of(&envelope));
        }
        Ok(())
    }
}
