//! Reasoning that a model shows: counted while it streams, limited when it is stored.

/// Maximum size stored with a reply, in bytes.
const MOST_STORED: usize = 64 << 10;
/// Marks the place where the rest was cut off.
const CUT: &str = "\n[…]";

#[derive(Clone, Debug, Default)]
pub(crate) struct Reasoning {
    text: String,
    characters: usize,
    is_cut: bool,
}

impl Reasoning {
    /// Adds a delta, and returns how many characters came before it.
    pub(crate) fn add(&mut self, piece: &str) -> usize {
        let offset = self.characters;
        self.characters += piece.chars().count();
        if !self.is_cut {
            let room = MOST_STORED - self.text.len();
            self.text.push_str(&piece[..piece.floor_char_boundary(room)]);
            self.is_cut = piece.len() > room;
        }
        offset
    }

    /// The text to store; `None` if the model showed none.
    pub(crate) fn stored(self) -> Option<String> {
        let text = self.text.trim().to_owned();
        (!text.is_empty()).then(|| if self.is_cut { text + CUT } else { text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasoning_is_counted_whole_and_stored_up_to_its_limit() {
        let mut reasoning = Reasoning::default();
        assert_eq!((reasoning.add("先想"), reasoning.add("一下")), (0, 2));
        assert_eq!(reasoning.stored().as_deref(), Some("先想一下"));
        let mut long = Reasoning::default();
        for round in 0..30_000 {
            assert_eq!(long.add("想想"), round * 2);
        }
        let stored = long.stored().unwrap();
        assert!(stored.len() <= MOST_STORED + CUT.len() && stored.ends_with("想\n[…]"), "{}", stored.len());
        let mut blank = Reasoning::default();
        blank.add(" \n");
        assert_eq!(blank.stored(), None);
    }
}
