//! Timestamps.

use jiff::Timestamp;

/// The present time in the precision of the store, so that a stored timestamp reads back equal.
#[must_use]
pub fn now() -> Timestamp {
    Timestamp::from_microsecond(Timestamp::now().as_microsecond()).unwrap_or_default()
}
