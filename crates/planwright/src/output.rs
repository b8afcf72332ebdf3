//! The only place that prints. What a command answers goes to stdout, everything else to stderr.

use std::io::Write;
use std::process::ExitCode;

pub fn line(text: &str) {
    let mut out = std::io::stdout().lock();
    // A reader that has gone away is no reason to stop the work.
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}

pub fn piece(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = write!(out, "{text}").and_then(|()| out.flush());
}

pub fn note(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

pub fn fail(error: &anyhow::Error) -> ExitCode {
    note(&format!("planwright: {error:#}"));
    ExitCode::FAILURE
}
