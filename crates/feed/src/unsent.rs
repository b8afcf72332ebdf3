//! How much of events may wait for clients that don't read.

use planwright_protocol::{ErrorCode, Problem};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// So little is not counted: what a stream has of it is bounded by the connection's own buffers.
const FREE: usize = 64 << 10;

/// What is counted as one.
const UNIT: usize = 1 << 10;

/// How long a stream waits for room before it ends. Shorter than the time between two signs of life.
const WAIT: Duration = Duration::from_secs(5);

/// The room for events that streams have read and not sent, one for each bound that counts. Without any nothing is counted.
#[derive(Clone, Default)]
pub struct Unsent {
    bounds: Vec<Bound>,
}

/// Room that several streams share.
#[derive(Clone)]
pub struct Bound {
    room: Arc<Semaphore>,
    units: usize,
}

/// Room in use; free again when it is dropped.
pub struct Held {
    _room: Vec<OwnedSemaphorePermit>,
}

impl Bound {
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        let units = bytes / UNIT;
        Self { room: Arc::new(Semaphore::new(units)), units }
    }

    /// Whether no stream has a share in it.
    #[must_use]
    pub fn is_unused(&self) -> bool {
        Arc::strong_count(&self.room) == 1
    }
}

impl Unsent {
    #[must_use]
    pub fn within(bounds: Vec<Bound>) -> Self {
        Self { bounds }
    }

    /// Waits for room for so many bytes; what is larger than all there is takes all of it.
    ///
    /// # Errors
    /// `RATE_LIMITED`: other streams hold it, and do not read.
    pub(crate) async fn hold(&self, bytes: usize) -> Result<Option<Held>, Problem> {
        if bytes <= FREE || self.bounds.is_empty() {
            return Ok(None);
        }
        let all = async {
            let mut room = Vec::new();
            for bound in &self.bounds {
                let units = u32::try_from(bytes.div_ceil(UNIT).min(bound.units)).unwrap_or(u32::MAX);
                room.push(bound.room.clone().acquire_many_owned(units).await.map_err(|_| full())?);
            }
            Ok(Held { _room: room })
        };
        tokio::time::timeout(WAIT, all).await.map_err(|_| full())?.map(Some)
    }
}

fn full() -> Problem {
    Problem::new(ErrorCode::RateLimited, "Too much waits to be read by other streams. Read them or close them.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn room_is_shared_and_who_finds_none_in_time_is_refused() {
        let own = Bound::new(1 << 20);
        let unsent = Unsent::within(vec![own.clone(), Bound::new(10 << 20)]);
        assert!(unsent.hold(FREE).await.unwrap().is_none(), "little is free");
        let first = unsent.hold(700 << 10).await.unwrap();
        assert!(first.is_some() && !own.is_unused());
        assert_eq!(unsent.hold(700 << 10).await.err().map(|problem| problem.code), Some(ErrorCode::RateLimited));
        drop(first);
        assert!(unsent.hold(99 << 20).await.unwrap().is_some(), "what is larger than all takes all");
        assert!(Unsent::default().hold(99 << 20).await.unwrap().is_none());
        drop(unsent);
        assert!(own.is_unused());
    }
}
