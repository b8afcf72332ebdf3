//! Frees disk space before a write.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A source of free disk space for SQLite databases.
pub trait Room: std::fmt::Debug + Send + Sync {
    /// Whether the disk is nearly full. Called before each transaction.
    fn is_needed(&self) -> bool;

    /// Frees disk space; this may block for a moment.
    fn make(&self);
}

/// Whether a write failed since space was last freed.
static FULL: AtomicBool = AtomicBool::new(false);

pub(crate) fn note_full() {
    FULL.store(true, Ordering::SeqCst);
}

pub(crate) async fn make(room: Option<&Arc<dyn Room>>) {
    let Some(room) = room.filter(|room| FULL.swap(false, Ordering::SeqCst) || room.is_needed()).cloned() else { return };
    // The next write shows whether this succeeded.
    let _ = tokio::task::spawn_blocking(move || room.make()).await;
}
