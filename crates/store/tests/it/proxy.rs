//! A proxy to the database, with which tests cut, delay and count messages.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::Notify;

/// What happens to a connection whose client sends the marked bytes. The next connection works again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The server never receives them.
    BeforeTheServer,
    /// The server executes them, but its answer is lost.
    AfterTheServer,
    /// The client is disconnected; the server receives them when [`Proxy::release`] is called.
    Late,
}

pub struct Proxy {
    pub url: String,
    state: Arc<State>,
}

struct State {
    socket: PathBuf,
    is_down: AtomicBool,
    went_down: Notify,
    refused: AtomicUsize,
    armed: Mutex<Option<(Vec<u8>, Cut)>>,
    cuts: AtomicUsize,
    release: Notify,
    released: AtomicUsize,
    connections: AtomicUsize,
    /// Messages that clients sent before they waited for an answer: the connection, and the bytes.
    flights: Mutex<Vec<(usize, Vec<u8>)>>,
}

impl Proxy {
    /// `url` is a URL of the test kit, which names the folder of a socket.
    pub async fn to(url: &str) -> Self {
        let (address, folder) = url.split_once("?host=").unwrap();
        let database = address.rsplit('/').next().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("postgres://postgres@{}/{database}", listener.local_addr().unwrap());
        let state = Arc::new(State {
            socket: PathBuf::from(folder).join(".s.PGSQL.5432"),
            is_down: AtomicBool::default(),
            went_down: Notify::new(),
            refused: AtomicUsize::default(),
            armed: Mutex::default(),
            cuts: AtomicUsize::default(),
            release: Notify::new(),
            released: AtomicUsize::default(),
            connections: AtomicUsize::default(),
            flights: Mutex::default(),
        });
        let shared = state.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                if shared.is_down.load(Ordering::SeqCst) {
                    shared.refused.fetch_add(1, Ordering::SeqCst);
                } else {
                    tokio::spawn(carry(shared.clone(), client));
                }
            }
        });
        Self { url, state }
    }

    /// Cuts the next connection that carries these bytes.
    pub fn cut(&self, marked: &str, cut: Cut) {
        *self.state.armed.lock().unwrap() = Some((marked.into(), cut));
    }

    /// The number of cut connections.
    pub fn cuts(&self) -> usize {
        self.state.cuts.load(Ordering::SeqCst)
    }

    /// Sends the held bytes to the server, and waits for its answer.
    pub async fn release(&self) {
        self.state.release.notify_one();
        while self.state.released.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
    }

    /// Cuts all connections and refuses new ones.
    pub fn go_down(&self) {
        self.state.is_down.store(true, Ordering::SeqCst);
        self.state.went_down.notify_waiters();
    }

    pub fn come_back(&self) {
        self.state.is_down.store(false, Ordering::SeqCst);
    }

    /// Waits until `count` connections were refused.
    pub async fn refused(&self, count: usize) {
        while self.state.refused.load(Ordering::SeqCst) < count {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    }

    /// Resets the counters.
    pub fn count_anew(&self) {
        self.state.flights.lock().unwrap().clear();
    }

    /// The number of round trips on the connections that carried these bytes.
    pub fn round_trips(&self, marked: &str) -> usize {
        let flights = self.state.flights.lock().unwrap();
        let carriers: HashSet<usize> =
            flights.iter().filter(|(_, bytes)| has(bytes, marked.as_bytes())).map(|(number, _)| *number).collect();
        flights.iter().filter(|(number, _)| carriers.contains(number)).count()
    }
}

/// Forwards bytes in both directions until either side ends, the proxy goes down, or the connection is cut.
async fn carry(state: Arc<State>, mut client: TcpStream) {
    let Ok(mut server) = UnixStream::connect(&state.socket).await else { return };
    let number = state.connections.fetch_add(1, Ordering::SeqCst);
    let (mut sent, mut answered) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    // The client's bytes since the server's last answer.
    let mut flight = Vec::new();
    let mut is_doomed = false;
    let down = state.went_down.notified();
    tokio::pin!(down);
    loop {
        tokio::select! {
            () = &mut down => return,
            count = client.read(&mut sent) => {
                let Ok(count @ 1..) = count else { return };
                flight.extend_from_slice(&sent[..count]);
                match state.cut_of(&flight) {
                    Some(Cut::BeforeTheServer) => return,
                    Some(Cut::Late) => {
                        drop(client);
                        state.release.notified().await;
                        server.write_all(&sent[..count]).await.unwrap();
                        let _ = server.read(&mut answered).await;
                        state.released.fetch_add(1, Ordering::SeqCst);
                        return;
                    }
                    Some(Cut::AfterTheServer) => is_doomed = true,
                    None => {}
                }
                if server.write_all(&sent[..count]).await.is_err() {
                    return;
                }
            }
            count = server.read(&mut answered) => {
                let Ok(count @ 1..) = count else { return };
                if !flight.is_empty() {
                    state.flights.lock().unwrap().push((number, std::mem::take(&mut flight)));
                }
                if is_doomed || client.write_all(&answered[..count]).await.is_err() {
                    return;
                }
            }
        }
    }
}

impl State {
    fn cut_of(&self, flight: &[u8]) -> Option<Cut> {
        let mut armed = self.armed.lock().unwrap();
        let cut = armed.as_ref().filter(|(marked, _)| has(flight, marked)).map(|(_, cut)| *cut)?;
        *armed = None;
        self.cuts.fetch_add(1, Ordering::SeqCst);
        Some(cut)
    }
}

fn has(bytes: &[u8], marked: &[u8]) -> bool {
    bytes.windows(marked.len()).any(|window| window == marked)
}
