//! The only module that prints. The command's result goes to stdout, everything else to stderr.

use crate::args::BadUsage;
use planwright_protocol::Problem;
use std::io::{ErrorKind, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

pub const BAD_USAGE: u8 = 2;

/// Whether some output was lost.
static LOST: AtomicBool = AtomicBool::new(false);
/// Whether the reader of stdout is gone.
static GONE: AtomicBool = AtomicBool::new(false);

/// Prints a line for people. Characters that could move the cursor, hide or reorder text are escaped: a plan must look like what it says.
pub fn line(text: &str) {
    print(&format!("{}\n", visible(text)));
}

/// Prints part of a line for people.
pub fn line_part(text: &str) {
    print(&visible(text));
}

/// Prints a line for programs, unchanged.
pub fn data(text: &str) {
    print(&format!("{text}\n"));
}

/// Whether notes are dropped.
static SILENT: AtomicBool = AtomicBool::new(false);

/// Drops notes, while the terminal shows pictures.
pub fn silence_notes(silent: bool) {
    SILENT.store(silent, Ordering::Relaxed);
}

/// Prints a line on stderr.
pub fn note(text: &str) {
    note_part(&format!("{text}\n"));
}

/// Prints part of a line on stderr.
pub fn note_part(text: &str) {
    if !SILENT.load(Ordering::Relaxed) {
        control(&visible(text));
    }
}

/// Whether stderr is a terminal that can do more than print lines.
pub fn is_terminal() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

pub fn has_colour() -> bool {
    is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Prints to the terminal unescaped: only for text from this program.
pub fn control(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

pub fn fail(error: &anyhow::Error) -> ExitCode {
    let code = error.downcast_ref::<Problem>().map(|problem| format!("{}: ", problem.code)).unwrap_or_default();
    note(&format!("planwright: {code}{error:#}"));
    if error.is::<BadUsage>() { ExitCode::from(BAD_USAGE) } else { ExitCode::FAILURE }
}

/// The exit code, or a failure if the output could not be printed.
pub fn checked(code: ExitCode) -> ExitCode {
    if LOST.load(Ordering::Relaxed) {
        return fail(&anyhow::anyhow!("can't write the output"));
    }
    code
}

/// Whether nobody reads the output any more.
pub fn is_unread() -> bool {
    GONE.load(Ordering::Relaxed)
}

fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::BrokenPipe => GONE.store(true, Ordering::Relaxed),
        Err(_) => LOST.store(true, Ordering::Relaxed),
    }
}

pub fn visible(text: &str) -> String {
    let hides = |c: char| {
        (c.is_control() && c != '\n' && c != '\t')
            || matches!(c, '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}')
    };
    text.chars().map(|c| if hides(c) { '\u{FFFD}' } else { c }).collect()
}

/// Quotes a word for a shell.
pub fn shell_word(text: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "/._-+@%:,".contains(character);
    if !text.is_empty() && text.chars().all(is_plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::{shell_word, visible};

    #[test]
    fn a_path_can_be_pasted_into_a_shell() {
        assert_eq!(shell_word("/home/ann/project"), "/home/ann/project");
        assert_eq!(shell_word("it's here; $(rm)"), r"'it'\''s here; $(rm)'");
    }

    #[test]
    fn text_for_people_cannot_move_the_cursor_or_hide() {
        assert_eq!(visible("harmless\u{1b}[8mevil\r\u{202e}x\n\tend"), "harmless\u{FFFD}[8mevil\u{FFFD}\u{FFFD}x\n\tend");
    }
}
