//! Reads a new password from the terminal or from stdin.

use crate::args::BadUsage;
use crate::output;
use crate::signals::Interrupts;
use anyhow::{Context, bail};
use planwright_server::{LONGEST_PASSWORD, hash_password};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use std::io::{IsTerminal, Read, stdin};

/// Shorter passwords are accepted with a warning.
const GOOD: usize = 12;

/// Where a password comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum PasswordSource {
    Prompt,
    Stdin,
}

/// Reads the new password and returns its hash.
pub async fn new_password(source: PasswordSource) -> anyhow::Result<String> {
    let password = match source {
        PasswordSource::Stdin => from_stdin()?,
        PasswordSource::Prompt if !stdin().is_terminal() => {
            bail!(BadUsage("there is no terminal to type a password; use --password-stdin".to_owned()))
        }
        PasswordSource::Prompt => {
            let password = prompt("Password: ").await?;
            if prompt("Again: ").await? != password {
                bail!("the two passwords differ; nothing was changed");
            }
            password
        }
    };
    if password.is_empty() || password.len() > LONGEST_PASSWORD {
        bail!("a password must have 1 to {LONGEST_PASSWORD} bytes; nothing was changed");
    }
    if password.chars().count() < GOOD {
        output::note(&format!("this password is short; one of {GOOD} characters or more is harder to guess"));
    }
    Ok(hash_password(&password)?)
}

/// Everything on stdin, without the final line break.
fn from_stdin() -> anyhow::Result<String> {
    let mut text = String::new();
    stdin().read_to_string(&mut text).context("can't read the password")?;
    let line = text.strip_suffix('\n').unwrap_or(&text);
    Ok(line.strip_suffix('\r').unwrap_or(line).to_owned())
}

async fn prompt(words: &str) -> anyhow::Result<String> {
    let mut interrupts = Interrupts::new()?;
    // Before the prompt, so that a fast typist's password is neither shown nor lost.
    let _hidden = Hidden::new()?;
    output::note_part(words);
    let (sender, typed) = tokio::sync::oneshot::channel();
    // On a detached thread: it is still reading when the user gives up.
    std::thread::spawn(move || {
        let mut line = String::new();
        let _ = sender.send(stdin().read_line(&mut line).map(|_| line));
    });
    let line = tokio::select! {
        typed = typed => typed.context("can't read the password")?.context("can't read the password")?,
        () = interrupts.next() => bail!("interrupted; nothing was changed"),
    };
    output::note_part("\n");
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}

/// Typed characters are hidden while this lives.
struct Hidden(Termios);

impl Hidden {
    fn new() -> anyhow::Result<Self> {
        let shown = tcgetattr(stdin())?;
        let mut hidden = shown.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        tcsetattr(stdin(), OptionalActions::Flush, &hidden)?;
        Ok(Self(shown))
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        let _ = tcsetattr(stdin(), OptionalActions::Flush, &self.0);
    }
}
