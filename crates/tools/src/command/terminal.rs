//! Converts terminal output to plain text, and to text with colours only.

use std::iter::Peekable;
use std::str::Chars;

/// Maximum length of a colour's numbers.
const LONGEST_COLOUR: usize = 40;

/// Removes terminal sequences: colours and cursor movements tell a model nothing.
pub fn plain(text: &str) -> String {
    filtered(text, |_, _| {})
}

/// Keeps only colours and weights (`ESC [ … m`); `None` if there are none.
pub fn coloured(text: &str) -> Option<String> {
    let mut has_colours = false;
    let coloured = filtered(text, |out, colour| {
        has_colours = true;
        out.push_str("\u{1b}[");
        out.push_str(colour);
        out.push('m');
    });
    has_colours.then_some(coloured)
}

fn filtered(text: &str, mut colour: impl FnMut(&mut String, &str)) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\u{1b}' if characters.next_if_eq(&'[').is_some() => {
                if let Some(numbers) = sequence(&mut characters) {
                    colour(&mut out, &numbers);
                }
            }
            '\r' if characters.peek() == Some(&'\n') => {}
            '\n' | '\t' => out.push(character),
            '\r' => out.push('\n'),
            character if character.is_control() || reorders(character) => out.push('\u{fffd}'),
            character => out.push(character),
        }
    }
    out
}

/// Reads a sequence to its end. Returns the numbers of a colour, `None` for anything else.
fn sequence(characters: &mut Peekable<Chars<'_>>) -> Option<String> {
    let mut numbers = String::new();
    for next in characters.by_ref() {
        if ('@'..='~').contains(&next) {
            let is_colour =
                next == 'm' && numbers.len() <= LONGEST_COLOUR && numbers.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b';' | b':'));
            return is_colour.then_some(numbers);
        }
        if numbers.len() <= LONGEST_COLOUR {
            numbers.push(next);
        }
    }
    None
}

/// Characters that display the text after them in another order, and so can deceive a reader.
fn reorders(character: char) -> bool {
    matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_a_terminal_understands_is_left_out() {
        assert_eq!(plain("\u{1b}[31mred\u{1b}[0m\r\nok\u{7}"), "red\nok\u{fffd}");
        assert_eq!(plain("a\u{202e}b\u{2066}c\u{2069}"), "a\u{fffd}b\u{fffd}c\u{fffd}", "and what reorders text");
    }

    #[test]
    fn colours_stay_and_every_other_sequence_goes() {
        let text = "\u{1b}[2J\u{1b}[1;38;5;9mred\u{1b}[m \u{1b}[?25l\u{1b}]0;title\u{7}\u{202e}end\u{1b}[3";
        assert_eq!(coloured(text).unwrap(), "\u{1b}[1;38;5;9mred\u{1b}[m \u{fffd}]0;title\u{fffd}\u{fffd}end");
        assert_eq!(
            plain(&coloured(text).unwrap()),
            plain(&coloured(text).unwrap().replace("\u{1b}[1;38;5;9m", "").replace("\u{1b}[m", ""))
        );
        assert_eq!(coloured("\u{1b}[2Jplain"), None);
        assert_eq!(coloured(&format!("\u{1b}[{}m", "1;".repeat(100))), None, "longer than any colour");
    }
}
