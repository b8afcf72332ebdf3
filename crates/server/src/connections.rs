//! Which connections are open, and which of them make room for others.
//!
//! A connection that waits for its client costs the client nothing, and the server a descriptor. So those are limited for each
//! address, and when there are too many, the one that has waited longest is closed. One that is being served never is.

use crate::guard::household;
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

/// Connections of one address that wait for a request, the rest of one, or the next one.
const MOST_WAITING: usize = 256;

/// Connections altogether, whatever the system allows.
const MOST: u64 = 20_000;

/// Descriptors that connections leave to the rest of the server: the database, files, commands.
const RESERVED: u64 = 256;

pub struct Connections {
    most: usize,
    /// Machines that pass on the requests of many.
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

/// A place among the open connections, free again when it is dropped.
pub struct Place {
    connections: Arc<Connections>,
    number: u64,
    pub wait: Arc<Wait>,
    /// Cancelled when the connection has to make room.
    pub end: CancellationToken,
}

/// Since when a connection waits for its client.
pub struct Wait {
    opened: Instant,
    /// In milliseconds after it was opened, and one more; 0 while the connection is being served.
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
    /// As many as there are descriptors for.
    pub fn new(proxies: Vec<IpAddr>) -> Arc<Self> {
        let descriptors = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        let most = descriptors.saturating_sub(RESERVED).max(descriptors / 2).min(MOST);
        Self::with_room_for(usize::try_from(most).unwrap_or(usize::MAX), proxies)
    }

    fn with_room_for(most: usize, proxies: Vec<IpAddr>) -> Arc<Self> {
        Arc::new(Self { most, proxies, open: Mutex::default() })
    }

    /// A place for one more; `None` if there is none, and no other connection can make room.
    pub fn admit(self: &Arc<Self>, address: IpAddr) -> Option<Place> {
        let is_proxy = self.proxies.contains(&address.to_canonical());
        let address = household(address);
        let mut open = self.lock();
        if !is_proxy && open.waiting_of(address) >= MOST_WAITING {
            open.close_longest_waiting(|connection| connection.address == address);
        }
        if open.connections.len() >= self.most && !open.close_longest_waiting(|_| true) {
            return None;
        }
        let (wait, end) = (Wait::new(), CancellationToken::new());
        let number = open.next;
        open.next += 1;
        open.connections.insert(number, Connection { address, wait: wait.clone(), end: end.clone() });
        Some(Place { connections: self.clone(), number, wait, end })
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    fn waiting_of(&self, address: IpAddr) -> usize {
        self.connections.values().filter(|connection| connection.address == address && connection.wait.since().is_some()).count()
    }

    /// Whether there was one to close.
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

impl Drop for Place {
    fn drop(&mut self) {
        self.connections.lock().connections.remove(&self.number);
    }
}

/// The body of a request: the connection waits for its client until it is whole.
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

/// The body of an answer: when it is sent, the connection waits for the next request.
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
        let connections = Connections::with_room_for(3, Vec::new());
        let places: Vec<Place> = (0..3).map(|_| connections.admit(HERE).unwrap()).collect();
        places[0].wait.end();
        std::thread::sleep(std::time::Duration::from_millis(5));
        places[1].wait.begin();
        let fourth = connections.admit(THERE).unwrap();
        let ended: Vec<bool> = places.iter().map(|place| place.end.is_cancelled()).collect();
        assert_eq!(ended, [false, false, true]);
        for place in &places {
            place.wait.end();
        }
        fourth.wait.end();
        assert!(connections.admit(THERE).is_none(), "all are being served");
        drop(fourth);
        assert!(connections.admit(THERE).is_some());
    }

    #[test]
    fn an_address_makes_room_for_itself_and_others_are_not_touched() {
        let connections = Connections::with_room_for(10_000, vec![HERE]);
        let other = connections.admit(IpAddr::from([198, 51, 100, 1])).unwrap();
        let waiting: Vec<Place> = (0..MOST_WAITING + 3).map(|_| connections.admit(THERE).unwrap()).collect();
        assert_eq!(waiting.iter().filter(|place| place.end.is_cancelled()).count(), 3);
        let served: Vec<Place> = (0..MOST_WAITING * 2)
            .map(|_| {
                let place = connections.admit(IpAddr::from([203, 0, 113, 1])).unwrap();
                place.wait.end();
                place
            })
            .collect();
        let passed_on: Vec<Place> = (0..MOST_WAITING * 2).map(|_| connections.admit(HERE).unwrap()).collect();
        assert!(served.iter().chain(&passed_on).chain([&other]).all(|place| !place.end.is_cancelled()));
    }
}
