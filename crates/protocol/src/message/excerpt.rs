//! The part of a message that a search result shows.

use super::{Message, WireMessage};

/// Bytes shown before and after the match.
const AROUND: usize = 2 << 10;
/// Longer metadata values are left out of a search result.
const LARGEST_VALUE: usize = 1 << 10;

impl WireMessage {
    /// The text around the match. A shortened message states its full length.
    #[must_use]
    pub fn excerpt(message: &Message, sought: &str) -> Self {
        let mut excerpt = Self::from(message);
        excerpt.metadata.retain(|_, value| value.to_string().len() <= LARGEST_VALUE);
        let size = excerpt.content.len();
        if size <= 2 * AROUND {
            return excerpt;
        }
        excerpt.metadata.insert("body_size".to_owned(), size.into());
        let at = excerpt.content.to_lowercase().find(&sought.to_lowercase()).unwrap_or_default().min(size);
        let (from, to) = (at.saturating_sub(AROUND), (at + sought.len() + AROUND).min(size));
        let (from, to) = (excerpt.content.floor_char_boundary(from), excerpt.content.ceil_char_boundary(to));
        excerpt.content = excerpt.content[from..to].to_owned();
        excerpt
    }
}
