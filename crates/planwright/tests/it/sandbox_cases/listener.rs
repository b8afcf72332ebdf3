//! A service on this machine that no command may reach.

use std::io::{Read, Write};
use std::net::{Ipv6Addr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Listens on one port of the loopback, of both kinds of addresses where there are both. Answers every request.
pub struct Listener {
    pub port: u16,
    count: Arc<AtomicUsize>,
}

impl Listener {
    pub fn open() -> Self {
        let first = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = first.local_addr().unwrap().port();
        let count = Arc::new(AtomicUsize::new(0));
        let second = TcpListener::bind((Ipv6Addr::LOCALHOST, port)).ok();
        for listener in std::iter::once(first).chain(second) {
            let count = count.clone();
            std::thread::spawn(move || answer(&listener, &count));
        }
        Self { port, count }
    }

    /// How many have come so far.
    pub fn count(&self) -> usize {
        self.count.load(Ordering::SeqCst)
    }
}

fn answer(listener: &TcpListener, count: &AtomicUsize) {
    for mut stream in listener.incoming().flatten() {
        count.fetch_add(1, Ordering::SeqCst);
        // Who does not wait for the answer has been counted all the same.
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(b"HTTP/1.0 200 OK\r\n\r\nreached");
    }
}
