//! HTTP over any stream: idle connections are used again.

use crate::error::ClientError;
use crate::target::Connect;
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The server closes idle connections after 15 s; one that is older may be closing.
const LONGEST_IDLE: Duration = Duration::from_secs(10);
const MOST_IDLE: usize = 4;

type Sender = SendRequest<Full<Bytes>>;

/// The connections to one server.
pub struct ConnectionPool {
    pub connector: Arc<dyn Connect>,
    idle: Mutex<Vec<Idle>>,
}

struct Idle {
    sender: Sender,
    since: Instant,
}

/// A connection with a request in progress.
pub struct Busy {
    sender: Sender,
    /// Whether an earlier request used it: then the server may have closed it meanwhile.
    pub is_reused: bool,
}

impl ConnectionPool {
    pub fn new(connector: Arc<dyn Connect>) -> Self {
        Self { connector, idle: Mutex::default() }
    }

    /// An idle connection, or a new one.
    pub async fn take(&self) -> Result<Busy, ClientError> {
        let idle = {
            let mut idle = self.lock();
            idle.retain(|idle| idle.since.elapsed() < LONGEST_IDLE && !idle.sender.is_closed());
            idle.pop()
        };
        match idle {
            Some(Idle { sender, .. }) => Ok(Busy { sender, is_reused: true }),
            None => self.open().await,
        }
    }

    /// A new connection.
    pub async fn open(&self) -> Result<Busy, ClientError> {
        let stream = self.connector.connect().await.map_err(unreachable)?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(unreachable)?;
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection ended");
            }
        });
        Ok(Busy { sender, is_reused: false })
    }

    /// Keeps a connection whose answer was read to its end.
    pub fn give_back(&self, busy: Busy) {
        let mut idle = self.lock();
        if idle.len() < MOST_IDLE {
            idle.push(Idle { sender: busy.sender, since: Instant::now() });
        }
    }

    /// Closes the idle connections: the server behind them is gone.
    pub fn forget(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Busy {
    pub async fn send(&mut self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, ClientError> {
        self.sender.ready().await.map_err(unreachable)?;
        self.sender.send_request(request).await.map_err(unreachable)
    }
}

pub fn unreachable(error: impl std::error::Error) -> ClientError {
    let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
    ClientError::Unreachable(format!("{error}{cause}"))
}
