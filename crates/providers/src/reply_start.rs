//! The first bytes of a reply. Some wire formats report there what the request cost, and the library passes that on only at the
//! end, which may never come.

use serde_json::Value;
use std::sync::{Arc, Mutex, PoisonError};

/// The first bytes of one reply, as received.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReplyStart(Arc<Mutex<Vec<u8>>>);

impl ReplyStart {
    /// Larger than the first event of any wire format.
    const LONGEST: usize = 64 * 1024;

    pub(crate) fn add(&self, piece: &[u8]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let room = Self::LONGEST.saturating_sub(kept.len()).min(piece.len());
        kept.extend_from_slice(&piece[..room]);
    }

    /// Its complete events.
    pub(crate) fn events(&self) -> Vec<Value> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let data = |line: &[u8]| serde_json::from_slice(line.strip_prefix(b"data:")?).ok();
        kept.split(|byte| *byte == b'\n').filter_map(data).collect()
    }
}
