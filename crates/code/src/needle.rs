//! The name that is searched for, and filters that exclude files without reading them.

/// A name, or a part of one.
#[derive(Clone, Debug)]
pub struct Needle {
    /// As the caller wrote it.
    text: String,
    /// The filter bits that every file with this text has set.
    places: Vec<u16>,
}

/// A filter of the three-byte sequences in a file, ignoring case: each sets one bit. A filter takes about a tenth of its file's
/// size, so it also passes some files without the needle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter(Box<[u64]>);

/// Number of bits in the largest filter.
const MOST_BITS: usize = 1 << 16;
/// Number of bits for each one that is set.
const SPARE: usize = 4;

impl Needle {
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self { text: text.to_owned(), places: places(text.as_bytes()).collect() }
    }

    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the file may contain the needle, according to its filter.
    #[must_use]
    pub fn may_be_in(&self, filter: &Filter) -> bool {
        self.places.iter().all(|place| filter.has(*place))
    }

    /// Whether the text contains the needle, ignoring case.
    #[must_use]
    pub fn is_in(&self, text: &[u8]) -> bool {
        let needle = self.text.as_bytes();
        let Some(first) = needle.first() else { return true };
        memchr::memchr2_iter(first.to_ascii_lowercase(), first.to_ascii_uppercase(), text)
            .any(|at| text.get(at..at + needle.len()).is_some_and(|found| found.eq_ignore_ascii_case(needle)))
    }

    /// The lines of a text that contain the needle as a whole word, numbered from 1.
    pub fn lines_in<'t>(&'t self, text: &'t [u8]) -> impl Iterator<Item = (u32, &'t [u8])> {
        let lines = text.split(|byte| *byte == b'\n').zip(1..);
        lines.filter(|(line, _)| self.is_word_in(line)).map(|(line, number)| (number, line))
    }

    fn is_word_in(&self, line: &[u8]) -> bool {
        let needle = self.text.as_bytes();
        memchr::memmem::find_iter(line, needle).any(|at| {
            let before = at.checked_sub(1).and_then(|before| line.get(before));
            !before.is_some_and(|byte| is_word(*byte)) && !line.get(at + needle.len()).is_some_and(|byte| is_word(*byte))
        })
    }
}

impl Filter {
    #[must_use]
    pub fn new(text: &[u8]) -> Self {
        let mut bits = vec![0_u64; MOST_BITS / 64];
        places(text).for_each(|place| bits[usize::from(place) / 64] |= 1 << (place % 64));
        let set: usize = bits.iter().map(|word| word.count_ones() as usize).sum();
        // OR-ing the two halves of a filter yields the filter of half the size.
        while bits.len() > 1 && bits.len() * 64 / 2 >= set * SPARE {
            let half = bits.split_off(bits.len() / 2);
            bits.iter_mut().zip(half).for_each(|(word, other)| *word |= other);
        }
        Self(bits.into())
    }

    fn has(&self, place: u16) -> bool {
        let place = usize::from(place) & (self.0.len() * 64 - 1);
        self.0[place / 64] & (1 << (place % 64)) != 0
    }

    /// The memory that it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.0)
    }
}

/// The bit in the largest filter for each sequence of three bytes.
fn places(text: &[u8]) -> impl Iterator<Item = u16> {
    text.array_windows().map(|three: &[u8; 3]| {
        let [one, two, three] = three.map(|byte| u32::from(byte.to_ascii_lowercase()));
        let mixed = (one << 16 | two << 8 | three).wrapping_mul(0x9e37_79b1);
        (mixed >> 16) as u16
    })
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_lets_pass_what_is_there_and_hardly_anything_else() {
        let text: String =
            (0..2000).map(|number| format!("let value_{number} = compute_{}(number);\n", number * 7)).collect::<Vec<_>>().concat();
        for text in ["", "ab", "fn parse_plan() {}\n", &text] {
            let filter = Filter::new(text.as_bytes());
            assert!(filter.bytes() <= 64 + text.len().max(64), "{} for {}", filter.bytes(), text.len());
            for word in text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()) {
                assert!(Needle::new(word).may_be_in(&filter) && Needle::new(&word.to_uppercase()).may_be_in(&filter), "{word}");
            }
        }
        let filter = Filter::new(text.as_bytes());
        let strange = (0..1000).filter(|number| Needle::new(&format!("Q{}xyz{number}", number * 31)).may_be_in(&filter)).count();
        assert!(strange < 50, "{strange} of 1000");
    }

    #[test]
    fn words_are_found_whole_and_parts_regardless_of_case() {
        let needle = Needle::new("parse");
        let lines: Vec<u32> = needle.lines_in(b"parse\nparser\nre_parse\na.parse()\nPARSE\n").map(|(line, _)| line).collect();
        assert_eq!(lines, [1, 4]);
        assert!(needle.is_in(b"ReParser") && !needle.is_in(b"pars"));
    }
}
