//! Publishes the events of one chat to its followers and to the overview.

use crate::channel::{Channel, OF_A_CHAT};
use crate::frame::{Frame, Source, is_small};
use crate::overview::Hub;
use async_trait::async_trait;
use metrics::counter;
use planwright_protocol::event::{RunOutcome, Usage};
use planwright_protocol::{Envelope, Event, MessageId, Problem};
use planwright_store::Store;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tokio_util::sync::CancellationToken;

/// Where a chat publishes its events.
pub struct ChatFeed {
    pub source: Source,
    pub(crate) channel: Channel,
    hub: Arc<Hub>,
    /// Cancelled when the chat is deleted, or leaves this process.
    gone: CancellationToken,
    has_left: AtomicBool,
    /// The owner's tenure, for nodes that drop messages of an earlier owner.
    term: u64,
    /// The number of the newest published event.
    newest: AtomicU64,
}

impl ChatFeed {
    /// Events up to `seq` are only in the store.
    #[must_use]
    pub fn new(source: Source, seq: u64, hub: Arc<Hub>) -> Self {
        Self::within(0, source, seq, hub)
    }

    /// The same for a chat in the tenure with this number.
    #[must_use]
    pub fn within(term: u64, source: Source, seq: u64, hub: Arc<Hub>) -> Self {
        Self {
            term,
            newest: AtomicU64::new(seq),
            source,
            channel: Channel::beginning_after(seq, OF_A_CHAT),
            hub,
            gone: CancellationToken::new(),
            has_left: AtomicBool::new(false),
        }
    }

    /// Sends an event to the chat's followers and, unless it is a delta, to the overview.
    pub fn publish(&self, envelope: &Envelope) {
        count(&envelope.event);
        if let Some(frame) = Frame::of(self.source, envelope) {
            let before = self.newest.swap(envelope.seq, Ordering::SeqCst);
            self.hub.send_out(self.term, before, &frame, is_small(&envelope.event));
            if is_small(&envelope.event) {
                self.hub.send(frame.clone());
            }
            self.channel.send(envelope.seq, frame);
        }
    }

    /// Ends all followers: the chat is deleted.
    pub fn close(&self) {
        self.gone.cancel();
    }

    /// Ends all followers with an error that lets their clients come back: the chat is at another node now.
    pub fn leave(&self) {
        self.has_left.store(true, Ordering::SeqCst);
        self.gone.cancel();
    }

    pub(crate) fn has_left(&self) -> bool {
        self.has_left.load(Ordering::SeqCst)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.gone.is_cancelled()
    }

    pub(crate) async fn closed(&self) {
        self.gone.cancelled().await;
    }
}

/// A chat's event log, as followers need it.
#[async_trait]
pub trait EventLog: Send + Sync {
    fn feed(&self) -> &ChatFeed;

    fn store(&self) -> &Store;

    /// The number of the newest event.
    fn newest(&self) -> u64;

    /// Stores all events so far, and returns the end of the log.
    ///
    /// # Errors
    /// They can't be stored.
    async fn moment(&self) -> Result<Moment, Problem>;
}

/// The end of a chat's events at one moment.
pub struct Moment {
    pub seq: u64,
    /// The answer in progress.
    pub partial: Option<PartialAnswer>,
}

/// The text so far of an answer in progress.
pub struct PartialAnswer {
    pub message_id: MessageId,
    pub text: String,
}

/// Counts an event for the metrics. Labels are fixed words, never a user's or a model's.
fn count(event: &Event) {
    counter!("planwright_events_total", "type" => event.name()).increment(1);
    if let Event::RunFinished { outcome, .. } = event {
        counter!("planwright_runs_total", "outcome" => label(*outcome)).increment(1);
    } else if let Event::Usage(usage) = event {
        count_usage(usage);
    } else if let Event::Violation { code, .. } = event {
        counter!("planwright_violations_total", "code" => code.as_str()).increment(1);
    }
}

/// Every reply of a model ends with its usage.
fn count_usage(usage: &Usage) {
    counter!("planwright_turns_total").increment(1);
    for (kind, tokens) in [("input", usage.input_tokens), ("output", usage.output_tokens), ("cached", usage.cached_tokens)] {
        counter!("planwright_tokens_total", "kind" => kind).increment(tokens);
    }
}

fn label(outcome: RunOutcome) -> &'static str {
    match outcome {
        RunOutcome::Done => "done",
        RunOutcome::Stopped => "stopped",
        RunOutcome::Blocked => "blocked",
        RunOutcome::Failed => "failed",
    }
}
