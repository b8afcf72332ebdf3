//! Moments.

use jiff::Timestamp;

/// The present, as precisely as it is stored, so that a moment read back is the same.
#[must_use]
pub fn now() -> Timestamp {
    Timestamp::from_microsecond(Timestamp::now().as_microsecond()).unwrap_or_default()
}
