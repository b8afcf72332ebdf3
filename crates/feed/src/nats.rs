//! The bus over a NATS server: core publish and subscribe, over TCP.
//!
//! The protocol is lines of text with a few verbs (<https://docs.nats.io/reference/reference-protocols/nats-protocol>). What can't be
//! sent at once is lost, and so is what arrives faster than a listener reads: the bus promises nothing.

mod connection;

use crate::bus::{Bus, BusMessage, Messages};
use async_trait::async_trait;
use bytes::Bytes;
use connection::Address;
use std::collections::HashMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use tokio::sync::mpsc;

/// Messages that wait to be sent.
const WAITING: usize = 8192;
/// Messages that wait for one listener.
const UNREAD: usize = 4096;

pub struct Nats {
    shared: Arc<Shared>,
}

/// What the connection and its users share.
struct Shared {
    is_connected: AtomicBool,
    /// Whole commands of the protocol.
    outgoing: mpsc::Sender<Vec<u8>>,
    subscriptions: Mutex<HashMap<u64, Subscription>>,
    last: AtomicU64,
}

struct Subscription {
    subject: String,
    listener: mpsc::Sender<BusMessage>,
}

/// A listener's end, which ends the subscription when it is dropped.
struct Listener {
    id: u64,
    messages: mpsc::Receiver<BusMessage>,
    shared: Arc<Shared>,
}

impl Nats {
    /// Connects to one of these servers in the background, again and again.
    ///
    /// # Errors
    /// An address is none.
    pub fn connect(servers: &str, node: &str) -> Result<Self, String> {
        let addresses = servers.split(',').map(|server| Address::parse(server.trim())).collect::<Result<Vec<_>, _>>()?;
        let (outgoing, waiting) = mpsc::channel(WAITING);
        let shared =
            Arc::new(Shared { is_connected: AtomicBool::new(false), outgoing, subscriptions: Mutex::default(), last: AtomicU64::new(0) });
        tokio::spawn(connection::keep(addresses, format!("planwright {node}"), Arc::downgrade(&shared), waiting));
        Ok(Self { shared })
    }
}

#[async_trait]
impl Bus for Nats {
    fn publish(&self, subject: &str, reply: Option<&str>, payload: Bytes) {
        let mut command = match reply {
            Some(reply) => format!("PUB {subject} {reply} {}\r\n", payload.len()),
            None => format!("PUB {subject} {}\r\n", payload.len()),
        }
        .into_bytes();
        command.extend_from_slice(&payload);
        command.extend_from_slice(b"\r\n");
        self.shared.send(command);
    }

    async fn subscribe(&self, subject: &str) -> Messages {
        let id = self.shared.last.fetch_add(1, Ordering::SeqCst) + 1;
        let (listener, messages) = mpsc::channel(UNREAD);
        self.shared.subscriptions().insert(id, Subscription { subject: subject.to_owned(), listener });
        self.shared.send(subscribe_command(id, subject));
        Box::pin(Listener { id, messages, shared: self.shared.clone() })
    }

    fn inbox(&self) -> String {
        format!("_INBOX.{}", planwright_protocol::CallId::generate())
    }

    fn is_connected(&self) -> bool {
        self.shared.is_connected.load(Ordering::SeqCst)
    }
}

impl Shared {
    /// Sends a command, unless there is no connection. A new connection subscribes by itself.
    fn send(&self, command: Vec<u8>) {
        if self.is_connected.load(Ordering::SeqCst) {
            let _ = self.outgoing.try_send(command);
        }
    }

    fn deliver(&self, id: u64, message: BusMessage) {
        if let Some(subscription) = self.subscriptions().get(&id) {
            let _ = subscription.listener.try_send(message);
        }
    }

    fn subscriptions(&self) -> MutexGuard<'_, HashMap<u64, Subscription>> {
        self.subscriptions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn subscribe_command(id: u64, subject: &str) -> Vec<u8> {
    format!("SUB {subject} {id}\r\n").into_bytes()
}

impl futures::Stream for Listener {
    type Item = BusMessage;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<BusMessage>> {
        self.messages.poll_recv(cx)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.shared.subscriptions().remove(&self.id);
        self.shared.send(format!("UNSUB {}\r\n", self.id).into_bytes());
    }
}
