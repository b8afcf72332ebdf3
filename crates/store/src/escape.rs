//! Escapes texts for PostgreSQL.

use std::borrow::Cow;

/// PostgreSQL texts can't contain NUL. Replaces it by two characters, the first of which can't occur in texts, so that `unescape`
/// restores the original.
pub(crate) fn escape(text: &str) -> Cow<'_, str> {
    if text.contains(['\0', ESCAPE]) { text.replace(ESCAPE, "\u{10FFFF}1").replace('\0', "\u{10FFFF}0").into() } else { text.into() }
}

pub(crate) fn unescape(text: String) -> String {
    if text.contains(ESCAPE) { text.replace("\u{10FFFF}0", "\0").replace("\u{10FFFF}1", "\u{10FFFF}") } else { text }
}

const ESCAPE: char = '\u{10FFFF}';

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_with_any_character_comes_back_as_it_was() {
        for text in ["", "plain", "a\0b", "\0\0", "\u{10FFFF}", "\u{10FFFF}0\0", "\0\u{10FFFF}1", "\u{10FFFF}\u{10FFFF}10\0"] {
            let stored = escape(text).into_owned();
            assert!(!stored.contains('\0'));
            assert_eq!(unescape(stored), text);
        }
    }
}
