//! Room on the disk, made before something is stored.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Has room on the disk to give, for a database that is in a file.
pub trait Room: std::fmt::Debug + Send + Sync {
    /// Whether there is hardly any left. Asked before each transaction.
    fn is_needed(&self) -> bool;

    /// Makes some; this may take a moment.
    fn make(&self);
}

/// Whether something could not be stored since room was made.
static FULL: AtomicBool = AtomicBool::new(false);

pub(crate) fn note_full() {
    FULL.store(true, Ordering::SeqCst);
}

pub(crate) async fn make(room: Option<&Arc<dyn Room>>) {
    let Some(room) = room.filter(|room| FULL.swap(false, Ordering::SeqCst) || room.is_needed()).cloned() else { return };
    // Whether it worked shows when something is stored.
    let _ = tokio::task::spawn_blocking(move || room.make()).await;
}
