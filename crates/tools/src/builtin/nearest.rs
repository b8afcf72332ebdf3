//! Finds the place in a file that is most similar to a missing text. Bounded, because it only helps the model to see its mistake.

use std::fmt;

/// Maximum number of lines to search.
const LINES: usize = 50_000;
/// Maximum number of line comparisons, for files with many repeated lines.
const MOST_COMPARED: usize = 20_000_000;
/// How much of a line is compared.
const COMPARED: usize = 300;
/// How much of the place is displayed.
const SHOWN_LINES: usize = 20;
const SHOWN_BYTES: usize = 2000;
/// Minimum similarity of two lines, in percent.
const ALIKE: usize = 50;

#[derive(Debug, PartialEq, Eq)]
pub struct Nearest {
    /// Counted from 1.
    line: usize,
    text: String,
    difference: Difference,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Difference {
    /// Only spaces, tabs or line endings.
    Whitespace,
    Words,
}

/// The most similar place, if any is similar enough.
pub fn find(bytes: &[u8], wanted: &str) -> Option<Nearest> {
    let lines: Vec<&[u8]> = bytes.split(|&byte| byte == b'\n').take(LINES).collect();
    let mut wanted: Vec<&[u8]> = wanted.as_bytes().split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).collect();
    // Empty lines at either end don't identify the place.
    while wanted.pop_if(|line| line.is_empty()).is_some() {}
    let leading = wanted.iter().take_while(|line| line.is_empty()).count();
    let wanted = &wanted[leading..];
    let first = wanted.first()?;
    let is_bounded = lines.len().saturating_mul(wanted.len()) <= MOST_COMPARED;
    let same = lines.windows(wanted.len()).filter(|_| is_bounded).position(|window| {
        window[0].trim_ascii() == *first && window.iter().zip(wanted).all(|(line, wanted)| line.trim_ascii() == *wanted)
    });
    if let Some(start) = same {
        return Some(Nearest::at(&lines, start, wanted.len(), Difference::Whitespace));
    }
    // The longest line identifies the place best.
    let (offset, anchor) = wanted.iter().enumerate().max_by_key(|(_, line)| line.len())?;
    let scored = lines.iter().enumerate().map(|(index, line)| (likeness(line.trim_ascii(), anchor), index));
    // The first of several equal ones.
    let (score, index) = scored.max_by_key(|&(score, index)| (score, std::cmp::Reverse(index)))?;
    (score >= ALIKE).then(|| Nearest::at(&lines, index.saturating_sub(offset), wanted.len(), Difference::Words))
}

impl Nearest {
    fn at(lines: &[&[u8]], start: usize, count: usize, difference: Difference) -> Nearest {
        let end = lines.len().min(start + count.min(SHOWN_LINES));
        let mut text = String::from_utf8_lossy(&lines[start..end].join(&b'\n')).into_owned();
        if text.len() > SHOWN_BYTES {
            text.truncate(text.floor_char_boundary(SHOWN_BYTES));
            text.push_str(" [cut]");
        }
        Nearest { line: start + 1, text, difference }
    }
}

impl fmt::Display for Nearest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Nearest { line, text, difference } = self;
        match difference {
            Difference::Whitespace => {
                write!(f, "Only spaces, tabs or line endings differ from the text at line {line}; copy it exactly:\n{text}")
            }
            Difference::Words => write!(f, "The most similar text is at line {line}; copy it exactly if you mean it:\n{text}"),
        }
    }
}

/// How much of two lines matches at their beginnings and ends, in percent.
fn likeness(a: &[u8], b: &[u8]) -> usize {
    let (a, b) = (&a[..a.len().min(COMPARED)], &b[..b.len().min(COMPARED)]);
    let shorter = a.len().min(b.len());
    let begin = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let end = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count().min(shorter - begin);
    (begin + end) * 200 / (a.len() + b.len()).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_differs_in_its_indentation_only_is_told_as_such() {
        let nearest = find(b"fn a() {\n\tone();\n\ttwo();\n}\n", "    one();\n    two();\n").unwrap();
        assert_eq!(nearest, Nearest { line: 2, text: "\tone();\n\ttwo();".to_owned(), difference: Difference::Whitespace });
    }

    #[test]
    fn the_most_alike_line_is_found_by_its_longest_line() {
        let nearest = find(b"a\nlet width = 10;\nlet height = 20;\n", "let width = 10;\nlet height = 21px;").unwrap();
        assert_eq!((nearest.line, nearest.text.as_str()), (2, "let width = 10;\nlet height = 20;"));
    }

    #[test]
    fn nothing_alike_is_nothing() {
        assert_eq!(find(b"alpha\nbeta\n", "zzz"), None);
        assert_eq!(find(b"", "zzz"), None);
        assert_eq!(find(b"x\n", "\n\n"), None);
    }

    #[test]
    fn what_is_shown_is_bounded() {
        let wide = [b'a'; 10_000];
        assert!(find(&wide, &"a".repeat(9_999)).unwrap().text.len() < 2100);
    }
}
