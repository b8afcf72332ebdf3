//! The place in a file that is most like a text that is not in it. Cheap and bounded: it only helps
//! the model to see its mistake.

use std::fmt;

/// Files are looked at up to here.
const LINES: usize = 50_000;
/// How many lines are compared at most, where the same lines come again and again.
const MOST_COMPARED: usize = 20_000_000;
/// Of a line, so much is compared.
const COMPARED: usize = 300;
/// So much of the place is shown.
const SHOWN_LINES: usize = 20;
const SHOWN_BYTES: usize = 2000;
/// In hundredths: how alike two lines must be to be worth showing.
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
    /// Only spaces, tabs or line ends.
    Whitespace,
    Words,
}

/// The nearest place, if there is one that is alike at all.
pub fn find(bytes: &[u8], wanted: &str) -> Option<Nearest> {
    let lines: Vec<&[u8]> = bytes.split(|&byte| byte == b'\n').take(LINES).collect();
    let mut wanted: Vec<&[u8]> = wanted.as_bytes().split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).collect();
    // Empty lines at either end say nothing about the place.
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
    // The longest line says most about the place.
    let (offset, anchor) = wanted.iter().enumerate().max_by_key(|(_, line)| line.len())?;
    let scored = lines.iter().enumerate().map(|(index, line)| (likeness(line.trim_ascii(), anchor), index));
    // Of equals the first.
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
                write!(f, "Only spaces, tabs or line ends differ from what begins on line {line}; copy it as it is there:\n{text}")
            }
            Difference::Words => write!(f, "The nearest begins on line {line}; copy what is there, if you mean that:\n{text}"),
        }
    }
}

/// How much of two lines is the same at their beginnings and ends, in hundredths.
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
