//! One stream over all chats: small events of every chat, and all events of the followed chats.

use crate::channel::{Channel, EventsSince, OVERVIEW_BOUNDS};
use crate::distant_chat::{EventHead, message, parse};
use crate::follow::{Follower, Next};
use crate::frame::{Frame, Source};
use crate::peers::Peers;
use crate::unsent::{Held, Unsent};
use futures::StreamExt;
use futures::future::select_all;
use planwright_protocol::{ChatId, Envelope, Event, Problem, Timestamp, WorkspaceId};
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, OnceLock};
use tokio::sync::watch;

/// Collects the small events of all chats. Its numbers are only valid in one process.
pub struct Hub {
    /// Distinguishes this process from an earlier one.
    era: u64,
    channel: Channel,
    /// Other nodes, which get everything as well.
    peers: OnceLock<Peers>,
}

impl Default for Hub {
    fn default() -> Self {
        let era = u64::try_from(Timestamp::now().as_microsecond()).unwrap_or_default();
        Self { era, channel: Channel::beginning_after(0, OVERVIEW_BOUNDS), peers: OnceLock::new() }
    }
}

impl Hub {
    pub(crate) fn send(&self, frame: Arc<Frame>) {
        self.channel.send_next(frame);
    }

    /// Publishes an event about a chat as a whole, which is in no chat's own log.
    pub fn announce(&self, source: Source, seq: u64, event: Event) {
        if let Some(frame) = Frame::of(source, &Envelope { event, seq, at: Timestamp::now() }) {
            self.send_out(0, 0, &frame, true);
            self.send(frame);
        }
    }

    /// Sends all events to other nodes from now on, and adds the small ones of theirs.
    pub async fn join(self: &Arc<Self>, peers: Peers) {
        let mut events = peers.subscribe(&peers.subject_of_workspace(None)).await;
        let (hub, node) = (Arc::downgrade(self), peers.node().to_owned());
        let _ = self.peers.set(peers);
        tokio::spawn(async move {
            while let Some(message) = events.next().await {
                let Some(hub) = hub.upgrade() else { return };
                let Some((head, Some(block))) = parse(&message.payload) else { continue };
                if let Some(frame) = Frame::received(head.source, head.seq, &block).filter(|_| head.node != node) {
                    hub.send(frame);
                }
            }
        });
    }

    /// Sends an event to other nodes: those that follow the chat, and the overviews of all if it is small.
    pub(crate) fn send_out(&self, term: u64, before: u64, frame: &Frame, is_small: bool) {
        let Some(peers) = self.peers.get() else { return };
        let head = EventHead { term, seq: frame.seq, before, source: frame.source, node: peers.node().to_owned() };
        let Some(message) = message(&head, frame) else { return };
        if is_small {
            peers.publish(&peers.subject_of_workspace(Some(frame.source.workspace)), message.clone());
        }
        peers.publish(&peers.subject_of_chat(frame.source.chat), message);
    }
}

/// A client's position: in the events of all chats, and in those it follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor {
    era: u64,
    number: u64,
    chats: Vec<(ChatId, u64)>,
}

impl Cursor {
    /// The position of a client with an unknown id.
    pub fn unknown() -> Self {
        Self { era: 0, number: 0, chats: Vec::new() }
    }

    /// The number of the last event that the client has of a followed chat.
    pub fn of(&self, chat: ChatId) -> Option<u64> {
        self.chats.iter().find(|(id, _)| *id == chat).map(|(_, seq)| *seq)
    }
}

/// For example `65f1a2.17;0192…=4711`: era and number, then each chat with its number.
impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}.{}", self.era, self.number)?;
        self.chats.iter().try_for_each(|(chat, seq)| write!(f, ";{}={seq}", chat.0.simple()))
    }
}

impl FromStr for Cursor {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut parts = text.split(';');
        let (era, number) = parts.next().and_then(|all| all.split_once('.')).ok_or(())?;
        let chat = |part: &str| {
            let (chat, seq) = part.split_once('=')?;
            Some((chat.parse().ok()?, seq.parse().ok()?))
        };
        Ok(Self {
            era: u64::from_str_radix(era, 16).map_err(drop)?,
            number: number.parse().map_err(drop)?,
            chats: parts.map(|part| chat(part).ok_or(())).collect::<Result<_, _>>()?,
        })
    }
}

/// One event of the overview.
pub enum OverviewEvent {
    Event(Arc<Frame>),
    /// Small events were missed: the client must reload its lists of chats.
    Reset,
}

/// Which workspaces a user can see.
pub type Visibility = Arc<dyn Fn(WorkspaceId) -> bool + Send + Sync>;

pub struct Overview {
    hub: Arc<Hub>,
    visibility: Visibility,
    news: watch::Receiver<()>,
    number: u64,
    /// Whether the client's position is unknown.
    is_lost: bool,
    named: Vec<Follower>,
    /// The follower to ask first next time, so that a busy chat can't starve the others.
    turn: usize,
    unsent: Unsent,
    /// The reserved memory for the last small event, which may not be sent yet.
    held: Option<Held>,
}

impl Overview {
    /// Continues after `cursor`, or starts now. `named` are the chats to follow completely.
    pub fn new(hub: Arc<Hub>, visibility: Visibility, cursor: Option<&Cursor>, named: Vec<Follower>) -> Self {
        let newest = hub.channel.newest();
        let known = cursor.is_none_or(|cursor| cursor.era == hub.era && cursor.number <= newest);
        let number = cursor.filter(|_| known).map_or(newest, |cursor| cursor.number);
        let (news, unsent) = (hub.channel.watch_changes(), Unsent::default());
        Self { news, hub, visibility, number, is_lost: !known, named, turn: 0, unsent, held: None }
    }

    /// Limits the unread events of the client.
    #[must_use]
    pub fn counted(mut self, unsent: &Unsent) -> Self {
        self.named = self.named.into_iter().map(|follower| follower.counted(unsent.clone())).collect();
        self.unsent = unsent.clone();
        self
    }

    /// The position after everything delivered so far.
    pub fn cursor(&self) -> Cursor {
        Cursor { era: self.hub.era, number: self.number, chats: self.named.iter().map(Follower::place).collect() }
    }

    /// The next event of any chat.
    ///
    /// # Errors
    /// The store can't be read.
    pub async fn next(&mut self) -> Result<OverviewEvent, Problem> {
        loop {
            if let Some(event) = self.take().await? {
                return Ok(event);
            }
            self.changed().await;
        }
    }

    async fn take(&mut self) -> Result<Option<OverviewEvent>, Problem> {
        // The caller has sent the previous event.
        self.held = None;
        for _ in 0..=self.named.len() {
            self.turn = (self.turn + 1) % (self.named.len() + 1);
            let Some(follower) = self.named.get_mut(self.turn) else {
                if let Some(event) = self.of_all().await? {
                    return Ok(Some(event));
                }
                continue;
            };
            match follower.take().await? {
                Next::Frame(frame) => return Ok(Some(OverviewEvent::Event(frame))),
                Next::Nothing => {}
                // All listeners get the event of its deletion.
                Next::Gone => drop(self.named.swap_remove(self.turn)),
            }
        }
        Ok(None)
    }

    /// The next small event of a chat that is not followed.
    async fn of_all(&mut self) -> Result<Option<OverviewEvent>, Problem> {
        if std::mem::take(&mut self.is_lost) {
            return Ok(Some(OverviewEvent::Reset));
        }
        self.news.mark_unchanged();
        loop {
            match self.hub.channel.since(self.number) {
                EventsSince::Frame(number, frame) => {
                    let is_sent = (self.visibility)(frame.source.workspace) && !self.is_followed(&frame);
                    if is_sent {
                        // Reserved before the position moves on: this wait may be cancelled.
                        self.held = self.unsent.hold(frame.size()).await?;
                    }
                    self.number = number;
                    if is_sent {
                        return Ok(Some(OverviewEvent::Event(frame)));
                    }
                }
                EventsSince::Nothing => return Ok(None),
                EventsSince::TooOld => {
                    self.number = self.hub.channel.newest();
                    return Ok(Some(OverviewEvent::Reset));
                }
            }
        }
    }

    /// Whether the frame also arrives by the follower of its chat.
    fn is_followed(&self, frame: &Frame) -> bool {
        !frame.is_about_chat && self.named.iter().any(|follower| follower.place().0 == frame.source.chat)
    }

    async fn changed(&mut self) {
        let news = self.news.changed();
        if self.named.is_empty() {
            let _ = news.await;
            return;
        }
        let named = select_all(self.named.iter_mut().map(|follower| Box::pin(follower.changed())));
        tokio::select! {
            _ = news => {}
            _ = named => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_was_written() {
        let cursor = Cursor { era: 0xa1b2, number: 17, chats: vec![(ChatId::generate(), 4711), (ChatId::generate(), 0)] };
        assert_eq!(cursor.to_string().parse(), Ok(cursor.clone()));
        assert_eq!(cursor.of(cursor.chats[0].0), Some(4711));
        assert_eq!(Cursor { chats: Vec::new(), ..cursor }.to_string(), "a1b2.17");
        for wrong in ["", "17", "x.1", "a.1;", "a.1;b=2", "a.-1"] {
            assert!(wrong.parse::<Cursor>().is_err(), "{wrong}");
        }
    }
}
