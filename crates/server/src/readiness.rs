//! Checks whether the server can work.

use crate::App;
use std::io::ErrorKind;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

/// Timeout of a check.
const CHECK_TIMEOUT: Duration = Duration::from_secs(5);

pub type Checked = Result<(), &'static str>;
/// A test of the disk that has not ended.
type Writing = Option<JoinHandle<std::io::Result<()>>>;

/// Anybody may ask whether the server is ready, so all who ask at the same time share one check.
#[derive(Default)]
pub struct ReadinessChecks(Mutex<LastCheck>);

#[derive(Default)]
struct LastCheck {
    began: Option<Instant>,
    result: Option<Checked>,
    writing: Writing,
}

impl ReadinessChecks {
    /// Whether the server can work, by a check that began after this call; otherwise why not.
    ///
    /// # Errors
    /// What does not work.
    pub async fn of(&self, app: &App) -> Checked {
        self.shared(async |writing| check(app, writing).await).await
    }

    async fn shared(&self, check: impl AsyncFnOnce(&mut Writing) -> Checked) -> Checked {
        let asked = Instant::now();
        let mut last = self.0.lock().await;
        if let (Some(began), Some(result)) = (last.began, last.result)
            && began >= asked
        {
            return result;
        }
        (last.began, last.result) = (Some(Instant::now()), None);
        let result = check(&mut last.writing).await;
        last.result = Some(result);
        result
    }
}

async fn check(app: &App, writing: &mut Writing) -> Checked {
    let database = timeout(CHECK_TIMEOUT, app.sessions.store().workspaces()).await;
    if !matches!(database, Ok(Ok(_))) {
        let error = database.ok().and_then(Result::err).map(|error| error.to_string());
        tracing::error!(error, "not ready: the database does not answer");
        return Err("The database does not answer.");
    }
    // A disk that hangs holds one thread, however often somebody asks.
    let unfinished = writing.take_if(|writing| !writing.is_finished());
    let storage = app.storage.clone();
    let current = writing.insert(unfinished.unwrap_or_else(|| tokio::task::spawn_blocking(move || storage.try_to_write())));
    let Ok(written) = timeout(CHECK_TIMEOUT, current).await else {
        tracing::error!("not ready: the data folder does not answer");
        return Err("The data folder is not writable.");
    };
    *writing = None;
    match written {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) if error.kind() == ErrorKind::StorageFull => {
            tracing::error!("not ready: the disk of the data folder is full");
            Err("The disk of the data folder is full. Free some space there.")
        }
        failed => {
            tracing::error!(?failed, "not ready: the data folder is not writable");
            Err("The data folder is not writable.")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[tokio::test]
    async fn however_many_ask_at_once_two_checks_are_enough_and_later_ones_get_a_new_one() {
        let (checks, made) = (ReadinessChecks::default(), AtomicUsize::new(0));
        let ask = || {
            checks.shared(async |_| {
                made.fetch_add(1, Ordering::Relaxed);
                for _ in 0..10 {
                    tokio::task::yield_now().await;
                }
                Ok(())
            })
        };
        let asked = futures::future::join_all((0..1000).map(|_| ask())).await;
        assert!(asked.iter().all(Result::is_ok));
        let at_once = made.load(Ordering::Relaxed);
        assert!(at_once <= 2, "{at_once}");
        ask().await.unwrap();
        assert_eq!(made.load(Ordering::Relaxed), at_once + 1);
    }
}
