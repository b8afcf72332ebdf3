//! The newest events in memory, for listeners.
//!
//! A listener only holds the number of the last event it got. If it is too slow, its position is no longer in memory and it
//! reads on from the store. So no listener can make the server keep more than these limits, or wait.

use crate::frame::Frame;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::sync::watch;

/// The limits of a channel. The newest event is kept whatever its size.
#[derive(Clone, Copy)]
pub struct Bounds {
    frames: usize,
    bytes: usize,
}

pub const OF_A_CHAT: Bounds = Bounds { frames: 1024, bytes: 256 << 10 };
/// Limits of the overview. Its older events can't be read from the store in order.
pub const OVERVIEW_BOUNDS: Bounds = Bounds { frames: 8192, bytes: 4 << 20 };

pub struct Channel {
    kept: Mutex<Kept>,
    news: watch::Sender<()>,
}

struct Kept {
    bounds: Bounds,
    frames: VecDeque<(u64, Arc<Frame>)>,
    bytes: usize,
    /// Everything after this number is in `frames`.
    floor: u64,
    newest: u64,
}

/// The events after a number.
pub enum EventsSince {
    Frame(u64, Arc<Frame>),
    Nothing,
    /// The next event is no longer in memory.
    TooOld,
}

impl Channel {
    /// Events up to `floor` are not in the channel.
    pub fn beginning_after(floor: u64, bounds: Bounds) -> Self {
        let kept = Mutex::new(Kept { bounds, frames: VecDeque::new(), bytes: 0, floor, newest: floor });
        Self { kept, news: watch::Sender::new(()) }
    }

    /// Numbers must grow from one call to the next.
    pub fn send(&self, number: u64, frame: Arc<Frame>) {
        self.lock().push(number, frame);
        self.news.send_replace(());
    }

    /// Sends an event with the next number.
    pub fn send_next(&self, frame: Arc<Frame>) {
        let mut kept = self.lock();
        let number = kept.newest + 1;
        kept.push(number, frame);
        drop(kept);
        self.news.send_replace(());
    }

    /// Leaves a gap up to a number, which listeners read from the store.
    pub fn skip_to(&self, number: u64) {
        let mut kept = self.lock();
        kept.frames.clear();
        (kept.bytes, kept.floor, kept.newest) = (0, number, number);
        drop(kept);
        self.news.send_replace(());
    }

    pub fn since(&self, number: u64) -> EventsSince {
        let kept = self.lock();
        if number < kept.floor {
            return EventsSince::TooOld;
        }
        let at = kept.frames.partition_point(|(of, _)| *of <= number);
        kept.frames.get(at).map_or(EventsSince::Nothing, |(of, frame)| EventsSince::Frame(*of, frame.clone()))
    }

    pub fn newest(&self) -> u64 {
        self.lock().newest
    }

    /// Signals new events; read once before you wait.
    pub fn watch_changes(&self) -> watch::Receiver<()> {
        self.news.subscribe()
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Kept {
    fn push(&mut self, number: u64, frame: Arc<Frame>) {
        self.newest = number;
        self.bytes += frame.size();
        self.frames.push_back((number, frame));
        while self.frames.len() > 1 && (self.frames.len() > self.bounds.frames || self.bytes > self.bounds.bytes) {
            let Some((number, frame)) = self.frames.pop_front() else { return };
            self.bytes -= frame.size();
            self.floor = number;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Source;
    use planwright_protocol::{CallId, ChatId, Envelope, Event, Timestamp, WorkspaceId};

    fn frame(seq: u64, length: usize) -> Arc<Frame> {
        let source = Source { workspace: WorkspaceId::generate(), chat: ChatId::generate() };
        let event = Event::ToolOutput { call_id: CallId::generate(), text: "x".repeat(length) };
        Frame::of(source, &Envelope { event, seq, at: Timestamp::UNIX_EPOCH }).unwrap()
    }

    fn number(since: EventsSince) -> Option<u64> {
        match since {
            EventsSince::Frame(number, _) => Some(number),
            EventsSince::Nothing | EventsSince::TooOld => None,
        }
    }

    #[test]
    fn what_is_kept_is_bounded_by_count_and_by_size_and_the_rest_is_too_old() {
        let Bounds { frames: most_frames, bytes: most_bytes } = OF_A_CHAT;
        let channel = Channel::beginning_after(10, OF_A_CHAT);
        assert!(matches!(channel.since(9), EventsSince::TooOld) && matches!(channel.since(10), EventsSince::Nothing));
        channel.send(12, frame(12, 1));
        assert_eq!((number(channel.since(10)), number(channel.since(11)), number(channel.since(12))), (Some(12), Some(12), None));
        for seq in 13..3000 {
            channel.send(seq, frame(seq, 1));
        }
        let kept = || {
            let kept = channel.lock();
            (kept.frames.len(), kept.bytes)
        };
        assert!(kept().0 <= most_frames && matches!(channel.since(12), EventsSince::TooOld));
        for seq in 3000..3010 {
            channel.send(seq, frame(seq, most_bytes / 3));
        }
        assert!(kept().1 <= most_bytes && number(channel.since(3008)) == Some(3009));
        channel.send(3010, frame(3010, most_bytes * 2));
        assert_eq!((kept().0, number(channel.since(3009))), (1, Some(3010)));
        channel.send_next(frame(0, 1));
        assert_eq!((channel.newest(), number(channel.since(3010))), (3011, Some(3011)));
    }
}
