//! A password that somebody types, or that a script hands over.

use crate::args::BadUsage;
use crate::output;
use crate::signals::Interrupts;
use anyhow::{Context, bail};
use planwright_server::{LONGEST_PASSWORD, hash_password};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use std::io::{IsTerminal, Read, stdin};

/// Shorter ones are taken, with a word.
const GOOD: usize = 12;

/// Where a password comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Source {
    Prompt,
    Stdin,
}

/// The new password, as it is to be stored.
pub async fn new_password(source: Source) -> anyhow::Result<String> {
    let password = match source {
        Source::Stdin => from_stdin()?,
        Source::Prompt if !stdin().is_terminal() => {
            bail!(BadUsage("there is no terminal to type a password on; give it with --password-stdin".to_owned()))
        }
        Source::Prompt => {
            let password = prompt("Password: ").await?;
            if prompt("Again: ").await? != password {
                bail!("the two are not the same; nothing was changed");
            }
            password
        }
    };
    if password.is_empty() || password.len() > LONGEST_PASSWORD {
        bail!("a password has 1 to {LONGEST_PASSWORD} bytes; nothing was changed");
    }
    if password.chars().count() < GOOD {
        output::note(&format!("this password is short; one of {GOOD} characters or more is harder to guess"));
    }
    Ok(hash_password(&password)?)
}

/// All of it, but for the end of its line.
fn from_stdin() -> anyhow::Result<String> {
    let mut text = String::new();
    stdin().read_to_string(&mut text).context("the password can't be read")?;
    let line = text.strip_suffix('\n').unwrap_or(&text);
    Ok(line.strip_suffix('\r').unwrap_or(line).to_owned())
}

async fn prompt(words: &str) -> anyhow::Result<String> {
    let mut interrupts = Interrupts::new()?;
    // Before the words: whoever answers them at once is not to be overheard, nor overlooked.
    let _hidden = Hidden::new()?;
    output::aside(words);
    let (sender, typed) = tokio::sync::oneshot::channel();
    // On a thread that nobody waits for: when the user gives up, it is still reading.
    std::thread::spawn(move || {
        let mut line = String::new();
        let _ = sender.send(stdin().read_line(&mut line).map(|_| line));
    });
    let line = tokio::select! {
        typed = typed => typed.context("the password can't be read")?.context("the password can't be read")?,
        () = interrupts.next() => bail!("interrupted; nothing was changed"),
    };
    output::aside("\n");
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}

/// What is typed does not show, as long as this lives.
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
