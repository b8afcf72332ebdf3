//! The bus between nodes: messages by subject, delivered at most once and in order per sender.
//!
//! Nothing relies on delivery: who misses a message finds out by numbers or by time, and reads the database.

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc;

/// A message from a subject.
#[derive(Clone, Debug)]
pub struct BusMessage {
    pub subject: String,
    /// Where an answer is expected.
    pub reply: Option<String>,
    pub payload: Bytes,
    /// The bus says that nobody listens to the subject of a request.
    pub is_unheard: bool,
}

/// The messages of a subscription.
pub type Messages = BoxStream<'static, BusMessage>;

#[async_trait]
pub trait Bus: Send + Sync {
    /// Sends a message if the bus can be reached, and never waits.
    fn publish(&self, subject: &str, reply: Option<&str>, payload: Bytes);

    /// Listens to a subject. A last part `*` stands for any word. Lasts over lost connections.
    async fn subscribe(&self, subject: &str) -> Messages;

    /// A subject that nobody else uses.
    fn inbox(&self) -> String;

    /// Whether the bus can be reached.
    fn is_connected(&self) -> bool;
}

/// A subject, and where its messages go.
type LocalListener = (String, mpsc::UnboundedSender<BusMessage>);

/// A bus within one process, for tests of several nodes in it.
#[derive(Clone, Default)]
pub struct LocalBus {
    listeners: Arc<Mutex<Vec<LocalListener>>>,
}

#[async_trait]
impl Bus for LocalBus {
    fn publish(&self, subject: &str, reply: Option<&str>, payload: Bytes) {
        let mut listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        let message = BusMessage { subject: subject.to_owned(), reply: reply.map(str::to_owned), payload, is_unheard: false };
        let mut is_heard = false;
        listeners.retain(|(pattern, listener)| {
            if !matches(pattern, subject) {
                return !listener.is_closed();
            }
            let is_there = listener.send(message.clone()).is_ok();
            is_heard |= is_there;
            is_there
        });
        if let Some(reply) = reply.filter(|_| !is_heard) {
            let unheard = BusMessage { subject: reply.to_owned(), reply: None, payload: Bytes::new(), is_unheard: true };
            for (_, listener) in listeners.iter().filter(|(pattern, _)| matches(pattern, reply)) {
                let _ = listener.send(unheard.clone());
            }
        }
    }

    async fn subscribe(&self, subject: &str) -> Messages {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner).push((subject.to_owned(), sender));
        Box::pin(futures::stream::unfold(receiver, |mut receiver| async move { Some((receiver.recv().await?, receiver)) }))
    }

    fn inbox(&self) -> String {
        format!("inbox.{}", planwright_protocol::CallId::generate())
    }

    fn is_connected(&self) -> bool {
        true
    }
}

fn matches(pattern: &str, subject: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => subject.strip_prefix(beginning).is_some_and(|rest| !rest.is_empty() && !rest.contains('.')),
        None => pattern == subject,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::StreamExt;

    #[tokio::test]
    async fn a_message_reaches_those_who_listen_and_a_request_that_nobody_hears_says_so() {
        let bus = LocalBus::default();
        let mut all = bus.subscribe("a.events.*").await;
        let mut inbox = bus.subscribe("inbox.1").await;
        bus.publish("a.events.x", None, Bytes::from_static(b"1"));
        bus.publish("a.events.x.y", None, Bytes::from_static(b"2"));
        bus.publish("a.node.b", Some("inbox.1"), Bytes::from_static(b"3"));
        bus.publish("a.events.z", None, Bytes::from_static(b"4"));
        assert_eq!(all.next().await.unwrap().payload, "1");
        assert_eq!(all.next().await.unwrap().subject, "a.events.z");
        assert!(inbox.next().await.unwrap().is_unheard);
    }
}
