//! Limits on events that clients have not read.

use planwright_protocol::{ErrorCode, Problem};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Smaller amounts are not counted: the connection's own buffers limit them.
const FREE: usize = 64 << 10;

/// The unit of counting.
const UNIT: usize = 1 << 10;

/// How long a stream waits for memory before it ends. Shorter than the heartbeat interval.
const WAIT: Duration = Duration::from_secs(5);

/// The limits for events that streams have read but not sent. Without limits nothing is counted.
#[derive(Clone, Default)]
pub struct Unsent {
    bounds: Vec<Bound>,
}

/// A limit that several streams share.
#[derive(Clone)]
pub struct Bound {
    room: Arc<Semaphore>,
    units: usize,
}

/// Reserved memory; dropping it frees it.
pub struct Held {
    _room: Vec<OwnedSemaphorePermit>,
}

impl Bound {
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        let units = bytes / UNIT;
        Self { room: Arc::new(Semaphore::new(units)), units }
    }

    /// Whether no stream uses it.
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

    /// Waits until this many bytes are free; an event larger than the limit takes all of it.
    ///
    /// # Errors
    /// `RATE_LIMITED`: other streams hold the memory, and do not read.
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
    Problem::new(ErrorCode::RateLimited, "Other streams have too many unread events. Read or close them.")
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
