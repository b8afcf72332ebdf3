//! A chat that is at another node, as its followers here need it.
//!
//! Its newest events come over the bus. Each names the number before it; after a gap this node asks the owner for what it keeps in
//! memory, and what is older is read from the database. Events of an earlier owner are dropped.

use crate::channel::EventsSince;
use crate::chat_feed::{ChatFeed, EventLog, Moment, PartialAnswer};
use crate::frame::{Frame, Source};
use crate::overview::Hub;
use crate::peers::{MAX_MESSAGE, Peers};
use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt;
use planwright_protocol::{ErrorCode, MessageId, Problem};
use planwright_store::{NodePlace, Store};
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use tokio::sync::Mutex;

/// The head of an event on the bus; its block follows, unless it is too large.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct EventHead {
    /// The owner's tenure.
    pub term: u64,
    pub seq: u64,
    /// The number of the event before it.
    pub before: u64,
    pub source: Source,
    pub node: String,
}

/// A question about a chat to its owner.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub enum ChatQuestion {
    /// The end of its log, with everything stored up to there.
    Moment(Source),
    /// The events after a number, as far as they are in memory.
    Tail(Source, u64),
}

#[derive(Debug, Deserialize, Serialize)]
struct MomentAnswer {
    term: u64,
    seq: u64,
    partial: Option<(MessageId, String)>,
}

pub struct DistantChat {
    feed: ChatFeed,
    peers: Peers,
    /// The owner's tenure, as far as it is known.
    term: AtomicU64,
    newest: AtomicU64,
    /// Held while a gap is closed.
    mending: Mutex<()>,
}

impl DistantChat {
    /// Listens to a chat. `ceiling` is the newest number that it may have used.
    ///
    /// # Errors
    /// The database failed.
    pub async fn open(peers: Peers, source: Source, ceiling: u64) -> Result<Arc<Self>, Problem> {
        let mut messages = peers.subscribe(&peers.subject_of_chat(source.chat)).await;
        let (term, newest) = match moment_of(&peers, source).await {
            Some(moment) => (moment.term, moment.seq),
            None => (0, ceiling),
        };
        let feed = ChatFeed::new(source, newest, Arc::new(Hub::default()));
        let chat = Arc::new(Self { feed, peers, term: AtomicU64::new(term), newest: AtomicU64::new(newest), mending: Mutex::default() });
        let listener: Weak<Self> = Arc::downgrade(&chat);
        tokio::spawn(async move {
            while let Some(message) = messages.next().await {
                let Some(chat) = listener.upgrade() else { return };
                chat.receive(&message.payload).await;
            }
        });
        Ok(chat)
    }

    /// Fetches what the owner has beyond what is known here: for a client that was at another node and may know more.
    pub async fn catch_up(&self) {
        let _mending = self.mending.lock().await;
        self.mend().await;
    }

    async fn receive(&self, message: &Bytes) {
        let Some((head, block)) = parse(message) else { return };
        let frame = block.and_then(|block| Frame::received(head.source, head.seq, &block));
        if frame.as_ref().is_some_and(|frame| frame.is_about_chat) {
            // Deleted: nobody can follow a chat that is being created.
            self.feed.close();
            return;
        }
        let _mending = self.mending.lock().await;
        if head.term < self.term.load(Ordering::SeqCst) || head.seq <= self.newest() {
            return;
        }
        let is_next = head.term == self.term.load(Ordering::SeqCst) && head.before <= self.newest();
        if let Some(frame) = frame.filter(|_| is_next) {
            self.push(frame);
            return;
        }
        self.term.store(head.term, Ordering::SeqCst);
        self.mend().await;
        if self.newest() < head.seq {
            // The owner is away: what is stored is read from the database.
            self.skip_to(head.seq);
        }
    }

    /// Asks the owner for everything since the newest known event.
    async fn mend(&self) {
        let tail = ask(&self.peers, self.feed.source.workspace, &ChatQuestion::Tail(self.feed.source, self.newest())).await;
        let Some(tail) = tail else { return };
        let mut rest = &tail[..];
        while let Some(end) = rest.windows(2).position(|pair| pair == b"\n\n") {
            let (block, after) = rest.split_at(end + 2);
            let seq = block.strip_prefix(b"id: ").and_then(|text| text.split(|byte| *byte == b'\n').next());
            let seq = seq.and_then(|text| std::str::from_utf8(text).ok()?.parse::<u64>().ok());
            match seq.and_then(|seq| Frame::received(self.feed.source, seq, block)) {
                Some(frame) if frame.seq > self.newest() => self.push(frame),
                Some(_) => {}
                None => break,
            }
            rest = after;
        }
        // Not all of it is in the owner's memory.
        if let Some(newest) = rest.strip_prefix(b"newest ").and_then(|text| std::str::from_utf8(text).ok()?.parse::<u64>().ok())
            && newest > self.newest()
        {
            self.skip_to(newest);
        }
    }

    fn push(&self, frame: Arc<Frame>) {
        self.newest.store(frame.seq, Ordering::SeqCst);
        self.feed.channel.send(frame.seq, frame);
    }

    /// Followers read the database up to this number.
    fn skip_to(&self, seq: u64) {
        self.newest.store(seq, Ordering::SeqCst);
        self.feed.channel.skip_to(seq);
    }
}

#[async_trait]
impl EventLog for DistantChat {
    fn feed(&self) -> &ChatFeed {
        &self.feed
    }

    fn store(&self) -> &Store {
        self.peers.store()
    }

    fn newest(&self) -> u64 {
        self.newest.load(Ordering::SeqCst)
    }

    async fn moment(&self) -> Result<Moment, Problem> {
        let Some(moment) = moment_of(&self.peers, self.feed.source).await else {
            return Ok(Moment { seq: self.newest(), partial: None });
        };
        {
            let _mending = self.mending.lock().await;
            if moment.seq > self.newest() {
                self.skip_to(moment.seq);
            }
        }
        let partial = moment.partial.map(|(message_id, text)| PartialAnswer { message_id, text });
        Ok(Moment { seq: moment.seq, partial })
    }
}

async fn moment_of(peers: &Peers, source: Source) -> Option<MomentAnswer> {
    let answer = ask(peers, source.workspace, &ChatQuestion::Moment(source)).await?;
    serde_json::from_slice(&answer).ok()
}

/// Asks the owner of a workspace; `None` if it is away or does not know.
async fn ask(peers: &Peers, workspace: planwright_protocol::WorkspaceId, question: &ChatQuestion) -> Option<Bytes> {
    let node = match peers.store().place_of(workspace).await.ok()? {
        NodePlace::Node(node) => node,
        // Also this node serves questions, for followers that stayed with the bus.
        NodePlace::Here => peers.node().to_owned(),
        NodePlace::Nowhere { .. } | NodePlace::Unknown => return None,
    };
    let mut request = b"chat ".to_vec();
    serde_json::to_writer(&mut request, question).ok()?;
    peers.ask(&node, request.into()).await.ok().filter(|answer| !answer.is_empty())
}

/// What the owner answers; nothing if it can't.
pub async fn answer_question(chat: &impl EventLog, term: u64, question: &ChatQuestion) -> Option<Bytes> {
    match question {
        ChatQuestion::Moment(_) => {
            let moment = chat.moment().await.ok()?;
            let partial = moment.partial.map(|partial| (partial.message_id, partial.text));
            serde_json::to_vec(&MomentAnswer { term, seq: moment.seq, partial }).ok().map(Bytes::from)
        }
        ChatQuestion::Tail(_, after) => Some(tail(chat, *after)),
    }
}

fn tail(chat: &impl EventLog, after: u64) -> Bytes {
    let (mut tail, mut last) = (Vec::new(), after);
    loop {
        match chat.feed().channel.since(last) {
            EventsSince::Frame(number, frame) => {
                if tail.len() + frame.size() > MAX_MESSAGE {
                    break;
                }
                tail.extend_from_slice(&frame.block());
                last = number;
            }
            EventsSince::Nothing => return tail.into(),
            EventsSince::TooOld => break,
        }
    }
    tail.extend_from_slice(format!("newest {}", chat.newest()).as_bytes());
    tail.into()
}

/// An event for the bus.
pub(crate) fn message(head: &EventHead, frame: &Frame) -> Option<Bytes> {
    let mut message = serde_json::to_vec(head).ok()?;
    message.push(b'\n');
    if frame.size() <= MAX_MESSAGE {
        message.extend_from_slice(&frame.block());
    }
    Some(message.into())
}

/// The head, and the block if it is there.
pub(crate) fn parse(message: &Bytes) -> Option<(EventHead, Option<Bytes>)> {
    let end = message.iter().position(|byte| *byte == b'\n')?;
    let head = serde_json::from_slice(&message[..end]).ok()?;
    let block = message.slice(end + 1..);
    Some((head, (!block.is_empty()).then_some(block)))
}

pub(crate) fn not_here() -> Problem {
    Problem::new(ErrorCode::NodeAway, "The chat is at another node now. Reconnect with your last id.")
}
