//! Requests to other nodes, and the subjects of the bus.
//!
//! A node says at once that it got a request, and then every two seconds that it is still at it. So who asks learns within a second
//! that a node is away, and may wait for a slow answer as long as it takes. What is too large for the bus goes through the database.

use crate::bus::{Bus, BusMessage, Messages};
use bytes::{BufMut, Bytes, BytesMut};
use futures::StreamExt;
use planwright_protocol::{ChatId, WorkspaceId};
use planwright_store::Store;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

/// How soon a node says that it got a request.
const HEARD_WITHIN: Duration = Duration::from_secs(1);
/// How often it says that it is still at it.
const STILL_EVERY: Duration = Duration::from_secs(2);
/// When a node that said nothing counts as away.
const SILENT_FOR: Duration = Duration::from_secs(5);
/// A larger message goes through the database.
pub(crate) const MAX_MESSAGE: usize = 512 << 10;

/// What the first byte of an answer says.
const STILL: u8 = b'.';
const WHOLE: u8 = b'=';
const STORED: u8 = b'@';

/// The other nodes.
#[derive(Clone)]
pub struct Peers {
    bus: Arc<dyn Bus>,
    store: Store,
    node: String,
    /// The beginning of all subjects.
    prefix: String,
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unanswered {
    /// This node can't reach the bus.
    Cut,
    /// The node did not get the request.
    Unheard,
    /// The node got it, or may have got it; its outcome is unknown.
    Lost,
}

impl Peers {
    /// `id` names the nodes of one database.
    #[must_use]
    pub fn new(bus: Arc<dyn Bus>, store: Store, node: String, id: &str) -> Self {
        Self { bus, store, node, prefix: format!("planwright.{id}") }
    }

    /// The name of this node.
    #[must_use]
    pub fn node(&self) -> &str {
        &self.node
    }

    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.bus.is_connected()
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    /// Asks a node.
    ///
    /// # Errors
    /// Why there is no answer.
    pub async fn ask(&self, node: &str, request: Bytes) -> Result<Bytes, Unanswered> {
        if !self.bus.is_connected() {
            return Err(Unanswered::Cut);
        }
        let inbox = self.bus.inbox();
        let mut answers = self.bus.subscribe(&inbox).await;
        let request = self.packed(request).await.ok_or(Unanswered::Unheard)?;
        self.bus.publish(&self.subject_of_node(node), Some(&inbox), request);
        let mut patience = HEARD_WITHIN;
        let mut is_heard = false;
        loop {
            let Ok(Some(answer)) = tokio::time::timeout(patience, answers.next()).await else {
                // The message may still arrive.
                return Err(Unanswered::Lost);
            };
            if answer.is_unheard {
                return Err(if is_heard { Unanswered::Lost } else { Unanswered::Unheard });
            }
            (is_heard, patience) = (true, SILENT_FOR);
            if answer.payload.first() != Some(&STILL) {
                return self.unpacked(answer.payload).await.ok_or(Unanswered::Lost);
            }
        }
    }

    /// Answers the requests of other nodes, until the bus ends.
    pub async fn serve<A>(&self, answer: impl Fn(Bytes) -> A + Clone + Send + 'static)
    where
        A: Future<Output = Bytes> + Send + 'static,
    {
        let mut requests = self.bus.subscribe(&self.subject_of_node(&self.node)).await;
        while let Some(BusMessage { reply, payload, .. }) = requests.next().await {
            let Some(reply) = reply else { continue };
            self.bus.publish(&reply, None, Bytes::from_static(&[STILL]));
            let (peers, answer) = (self.clone(), answer.clone());
            tokio::spawn(async move {
                if let Some(request) = peers.unpacked(payload).await {
                    peers.answer(reply, answer(request)).await;
                } else {
                    tracing::warn!("a request of another node can't be read");
                }
            });
        }
    }

    async fn answer(&self, reply: String, answering: impl Future<Output = Bytes>) {
        let mut answering = std::pin::pin!(answering);
        let answer = loop {
            match tokio::time::timeout(STILL_EVERY, &mut answering).await {
                Ok(answer) => break answer,
                Err(_) => self.bus.publish(&reply, None, Bytes::from_static(&[STILL])),
            }
        };
        if let Some(answer) = self.packed(answer).await {
            self.bus.publish(&reply, None, answer);
        }
    }

    /// The message, or the name of where it is stored.
    async fn packed(&self, message: Bytes) -> Option<Bytes> {
        let (kind, content) =
            if message.len() <= MAX_MESSAGE { (WHOLE, message) } else { (STORED, self.store.put_parcel(&message).await.ok()?.into()) };
        let mut packed = BytesMut::with_capacity(content.len() + 1);
        packed.put_u8(kind);
        packed.extend_from_slice(&content);
        Some(packed.freeze())
    }

    async fn unpacked(&self, packed: Bytes) -> Option<Bytes> {
        let content = packed.slice(1.min(packed.len())..);
        match *packed.first()? {
            WHOLE => Some(content),
            STORED => Some(self.store.parcel(std::str::from_utf8(&content).ok()?).await.ok()??.into()),
            _ => None,
        }
    }

    /// Tells all nodes something that none has to know.
    pub(crate) fn publish(&self, subject: &str, message: Bytes) {
        self.bus.publish(subject, None, message);
    }

    pub(crate) async fn subscribe(&self, subject: &str) -> Messages {
        self.bus.subscribe(subject).await
    }

    pub(crate) fn subject_of_chat(&self, chat: ChatId) -> String {
        format!("{}.chat.{chat}", self.prefix)
    }

    /// The small events of a workspace's chats; those of all workspaces for `None`.
    pub(crate) fn subject_of_workspace(&self, workspace: Option<WorkspaceId>) -> String {
        workspace.map_or_else(|| format!("{}.events.*", self.prefix), |id| format!("{}.events.{id}", self.prefix))
    }

    fn subject_of_node(&self, node: &str) -> String {
        format!("{}.node.{node}", self.prefix)
    }
}
