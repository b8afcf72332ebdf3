//! Text of models, files and servers, made safe to draw.
//!
//! Invariants: the result has no control character but the line break, nothing invisible, nothing that reorders text, and none of the
//! characters that frame an approval ([`crate::draw::dock`] alone draws these).

use unicode_width::UnicodeWidthChar;

/// Maximum number of combining marks on one character.
const MOST_MARKS: usize = 4;
const TAB: usize = 4;

/// Several lines of foreign text. Escape sequences go as a whole; invisible and reordering characters are shown by code point.
#[must_use]
pub fn clean(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let (mut column, mut marks) = (0, 0);
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '\n' => {
                clean.push('\n');
                column = 0;
            }
            '\r' => {}
            '\t' => {
                let spaces = TAB - column % TAB;
                clean.extend(std::iter::repeat_n(' ', spaces));
                column += spaces;
            }
            '\u{1b}' => skip_sequence(&mut rest),
            // The 8-bit form of `ESC [`; the other C1 characters are dropped below.
            '\u{9b}' => skip_parameters(&mut rest),
            // Variation selectors change the width of what stands before them, and terminals disagree by how much.
            '\u{fe00}'..='\u{fe0f}' => {}
            _ if character.is_control() => {}
            _ if is_hidden(character) => {
                let shown = format!("<U+{:04X}>", u32::from(character));
                column += shown.len();
                clean.push_str(&shown);
            }
            '\u{2550}'..='\u{256c}' => {
                clean.push(plain_frame(character));
                column += 1;
            }
            _ => {
                let width = character.width().unwrap_or(0);
                marks = if width == 0 { marks + 1 } else { 0 };
                if marks <= MOST_MARKS {
                    clean.push(character);
                    column += width;
                }
            }
        }
    }
    clean
}

/// The same, for a place that has one line.
#[must_use]
pub fn clean_line(text: &str) -> String {
    clean(text).replace('\n', " ")
}

/// Double lines frame approvals, so foreign text gets single ones.
fn plain_frame(character: char) -> char {
    match character {
        '\u{2550}' => '=',
        '\u{2551}' => '|',
        _ => '+',
    }
}

/// Zero-width, filling and reordering characters, and language tags.
fn is_hidden(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}'
        | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

type Rest<'t> = std::iter::Peekable<std::str::Chars<'t>>;

fn skip_sequence(rest: &mut Rest) {
    match rest.next() {
        Some('[') => skip_parameters(rest),
        // Operating system commands, device control and other strings, up to their end.
        Some(']' | 'P' | '_' | '^' | 'X') => skip_string(rest),
        // A character set is named by one more character.
        Some('(' | ')' | '*' | '+' | '#' | '%') => {
            rest.next_if(|character| character.is_ascii() && !character.is_control());
        }
        _ => {}
    }
}

/// A string ends at BEL or ST, and at the end of its line: an unfinished one hides no more than that.
fn skip_string(rest: &mut Rest) {
    while let Some(&character) = rest.peek() {
        if character == '\n' {
            return;
        }
        rest.next();
        match character {
            '\u{7}' | '\u{9c}' => return,
            '\u{1b}' => {
                rest.next_if_eq(&'\\');
                return;
            }
            _ => {}
        }
    }
}

fn skip_parameters(rest: &mut Rest) {
    while rest.next_if(|character| matches!(character, ' '..='?')).is_some() {}
    rest.next_if(|character| matches!(character, '@'..='~'));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_go_as_a_whole() {
        assert_eq!(clean("a\u{1b}[31mred\u{1b}[0m \u{1b}]0;title\u{7}b\u{9b}2Jc"), "ared bc");
        assert_eq!(clean("\u{1b}[?1049h\u{1b}[10;20Hx\u{1b}(0q\u{1b}c"), "xq");
        assert_eq!(clean("\u{1b}]52;c;aGk=\u{1b}\\after"), "after");
        assert_eq!(clean("one\u{1b}]0;never ends\ntwo"), "one\ntwo");
        assert_eq!(clean("a\rb\u{8}\u{7f}\u{0}c"), "abc");
    }

    #[test]
    fn what_reorders_or_hides_text_is_shown_by_code_point() {
        assert_eq!(clean("a\u{202e}b\u{200b}c\u{feff}d\u{2066}"), "a<U+202E>b<U+200B>c<U+FEFF>d<U+2066>");
        assert_eq!(clean("\u{e0041}"), "<U+E0041>");
        assert_eq!(clean("\u{2764}\u{fe0f}"), "\u{2764}");
    }

    #[test]
    fn nothing_foreign_has_the_frame_of_an_approval() {
        assert_eq!(clean("╔═ Approve ═╗\n║ yes ║"), "+= Approve =+\n| yes |");
        assert_eq!(clean("┌─┐"), "┌─┐");
    }

    #[test]
    fn tabs_reach_the_next_stop_and_piles_of_marks_are_cut() {
        assert_eq!(clean("a\tb\n\tc"), "a   b\n    c");
        assert_eq!(clean(&format!("e{}", "\u{301}".repeat(50))).chars().count(), 1 + MOST_MARKS);
        assert_eq!(clean_line("two\nlines"), "two lines");
    }

    #[test]
    fn any_bytes_leave_nothing_but_text() {
        for start in (0..0x11_0000).step_by(64) {
            let text: String = (start..start + 64).filter_map(char::from_u32).collect();
            let cleaned = clean(&text);
            assert!(cleaned.chars().all(|c| c == '\n' || !c.is_control() && !is_hidden(c) && !('\u{2550}'..='\u{256c}').contains(&c)));
        }
    }
}
