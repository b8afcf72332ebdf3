//! The open connections, and which of them are closed to make room for others.
//!
//! A connection that waits for its client costs the client nothing, and the server a descriptor. So there is a limit per
//! address, and when it is reached, the connection that has waited longest is closed. A connection that is being served is
//! never closed.

use crate::guard::client_group;
use axum::body::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use rustix::process::{Resource, getrlimit};
use std::collections::HashMap;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Instant;
use tokio_util::sync::CancellationToken;

/// Maximum connections of one address that wait for a request or the rest of one.
const MAX_WAITING: usize = 256;

/// Maximum connections in total, whatever the system allows.
const MAX_CONNECTIONS: u64 = 20_000;

/// Descriptors reserved for the rest of the server: the database, files, commands.
const RESERVED: u64 = 256;

pub struct Connections {
    most: usize,
    /// Proxies that forward the requests of many clients.
    proxies: Vec<IpAddr>,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    next: u64,
    connections: HashMap<u64, Connection>,
}

struct Connection {
    address: IpAddr,
    wait: Arc<Wait>,
    end: CancellationToken,
}

/// A slot for one connection; dropping it frees the slot.
pub struct ConnectionSlot {
    connections: Arc<Connections>,
    number: u64,
    pub wait: Arc<Wait>,
    /// Cancelled when the connection has to be closed.
    pub end: CancellationToken,
}

/// How long a connection has been waiting for its client.
pub struct Wait {
    opened: Instant,
    /// Milliseconds after it was opened, plus one; 0 while the connection is being served.
    since: AtomicU64,
}

impl Wait {
    fn new() -> Arc<Self> {
        Arc::new(Self { opened: Instant::now(), since: AtomicU64::new(1) })
    }

    fn begin(&self) {
        let now = u64::try_from(self.opened.elapsed().as_millis()).unwrap_or(u64::MAX - 1);
        self.since.store(now + 1, Ordering::Relaxed);
    }

    fn end(&self) {
        self.since.store(0, Ordering::Relaxed);
    }

    fn since(&self) -> Option<Instant> {
        let since = self.since.load(Ordering::Relaxed);
        (since > 0).then(|| self.opened + std::time::Duration::from_millis(since - 1))
    }
}

impl Connections {
    /// The limit follows from the number of descriptors.
    pub fn new(proxies: Vec<IpAddr>) -> Arc<Self> {
        let descriptors = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        let most = descriptors.saturating_sub(RESERVED).max(descriptors / 2).min(MAX_CONNECTIONS);
        Self::with_limit(usize::try_from(most).unwrap_or(usize::MAX), proxies)
    }

    fn with_limit(most: usize, proxies: Vec<IpAddr>) -> Arc<Self> {
        Arc::new(Self { most, proxies, open: Mutex::default() })
    }

    /// A slot for one more connection; `None` if there is none and no waiting connection can be closed.
    pub fn admit(self: &Arc<Self>, address: IpAddr) -> Option<ConnectionSlot> {
        let is_proxy = self.proxies.contains(&address.to_canonical());
        let address = client_group(address);
        let mut open = self.lock();
        if !is_proxy && open.count_waiting(address) >= MAX_WAITING {
            open.close_longest_waiting(|connection| connection.address == address);
        }
        if open.connections.len() >= self.most && !open.close_longest_waiting(|_| true) {
            return None;
        }
        let (wait, end) = (Wait::new(), CancellationToken::new());
        let number = open.next;
        open.next += 1;
        open.connections.insert(number, Connection { address, wait: wait.clone(), end: end.clone() });
        Some(ConnectionSlot { connections: self.clone(), number, wait, end })
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    fn count_waiting(&self, address: IpAddr) -> usize {
        self.connections.values().filter(|connection| connection.address == address && connection.wait.since().is_some()).count()
    }

    /// Returns whether there was one to close.
    fn close_longest_waiting(&mut self, among: impl Fn(&Connection) -> bool) -> bool {
        let waiting = self.connections.iter().filter(|(_, connection)| among(connection));
        let longest = waiting.filter_map(|(number, connection)| Some((connection.wait.since()?, *number))).min();
        let closed = longest.and_then(|(_, number)| self.connections.remove(&number));
        if let Some(closed) = &closed {
            closed.end.cancel();
        }
        closed.is_some()
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.connections.lock().connections.remove(&self.number);
    }
}

/// A request body: until it is complete, the connection waits for its client.
pub struct RequestBody<B> {
    body: B,
    wait: Arc<Wait>,
}

impl<B: Body> RequestBody<B> {
    pub fn new(body: B, wait: Arc<Wait>) -> Self {
        if body.is_end_stream() {
            wait.end();
        } else {
            wait.begin();
        }
        Self { body, wait }
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for RequestBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        if frame.is_ready() && self.body.is_end_stream() {
            self.wait.end();
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A response body: when it is sent, the connection waits for the next request.
pub struct AnswerBody<B> {
    body: B,
    wait: Arc<Wait>,
}

impl<B> AnswerBody<B> {
    pub fn new(body: B, wait: Arc<Wait>) -> Self {
        wait.end();
        Self { body, wait }
    }
}

impl<B> Drop for AnswerBody<B> {
    fn drop(&mut self) {
        self.wait.begin();
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for AnswerBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
    const THERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 7));

    #[test]
    fn the_one_that_waits_longest_makes_room_and_never_one_that_is_served() {
        let connections = Connections::with_limit(3, Vec::new());
        let slots: Vec<ConnectionSlot> = (0..3).map(|_| connections.admit(HERE).unwrap()).collect();
        slots[0].wait.end();
        std::thread::sleep(std::time::Duration::from_millis(5));
        slots[1].wait.begin();
        let fourth = connections.admit(THERE).unwrap();
        let ended: Vec<bool> = slots.iter().map(|slot| slot.end.is_cancelled()).collect();
        assert_eq!(ended, [false, false, true]);
        for slot in &slots {
            slot.wait.end();
        }
        fourth.wait.end();
        assert!(connections.admit(THERE).is_none(), "all are being served");
        drop(fourth);
        assert!(connections.admit(THERE).is_some());
    }

    #[test]
    fn an_address_makes_room_for_itself_and_others_are_not_touched() {
        let connections = Connections::with_limit(10_000, vec![HERE]);
        let other = connections.admit(IpAddr::from([198, 51, 100, 1])).unwrap();
        let waiting: Vec<ConnectionSlot> = (0..MAX_WAITING + 3).map(|_| connections.admit(THERE).unwrap()).collect();
        assert_eq!(waiting.iter().filter(|slot| slot.end.is_cancelled()).count(), 3);
        let served: Vec<ConnectionSlot> = (0..MAX_WAITING * 2)
            .map(|_| {
                let slot = connections.admit(IpAddr::from([203, 0, 113, 1])).unwrap();
                slot.wait.end();
                slot
            })
            .collect();
        let passed_on: Vec<ConnectionSlot> = (0..MAX_WAITING * 2).map(|_| connections.admit(HERE).unwrap()).collect();
        assert!(served.iter().chain(&passed_on).chain([&other]).all(|slot| !slot.end.is_cancelled()));
    }
}
