//! What a command did, as the model and programs read it.

use crate::effect::Effect;
use crate::tool::Output;
use crate::workspace::{Begun, Change};
use planwright_protocol::{ErrorCode, Problem};
use planwright_sandbox::{Ended, Finished};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

/// Of what is printed, the beginning and the end are kept.
const HEAD: usize = 8 << 10;
const TAIL: usize = 24 << 10;
/// How much is shown while the command runs.
const SHOWN: u64 = 1 << 20;
/// How many changed files are named.
const NAMED: usize = 100;

/// What a command printed, as far as it is kept.
#[derive(Default)]
pub struct Capture {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
}

impl Capture {
    pub fn take(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let (head, rest) = bytes.split_at(bytes.len().min(HEAD - self.head.len()));
        self.head.extend_from_slice(head);
        self.tail.extend(&rest[rest.len().saturating_sub(TAIL)..]);
        self.tail.drain(..self.tail.len().saturating_sub(TAIL));
    }

    pub fn is_worth_showing(&self) -> bool {
        self.total < SHOWN
    }

    fn text(mut self) -> (String, bool) {
        let left_out = self.total - (self.head.len() + self.tail.len()) as u64;
        if left_out > 0 {
            self.head.extend_from_slice(format!("\n[… {left_out} bytes left out …]\n").as_bytes());
        }
        self.head.extend(self.tail);
        (plain(&String::from_utf8_lossy(&self.head)), left_out > 0)
    }
}

/// Without what only a terminal understands: colours and moves of the cursor tell a model nothing.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\u{1b}' if characters.next_if_eq(&'[').is_some() => {
                while characters.next().is_some_and(|next| !('@'..='~').contains(&next)) {}
            }
            '\r' if characters.peek() == Some(&'\n') => {}
            '\n' | '\t' => plain.push(character),
            '\r' => plain.push('\n'),
            character if character.is_control() || reorders(character) => plain.push('\u{fffd}'),
            character => plain.push(character),
        }
    }
    plain
}

/// What shows the text behind it in another order than it has, so that people read something else than what was said.
fn reorders(character: char) -> bool {
    matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// What somebody else's program says, as the model reads it: bounded, and without what only a terminal understands or what
/// reorders text.
#[must_use]
pub fn for_model(text: &str) -> String {
    let mut capture = Capture::default();
    capture.take(text.as_bytes());
    capture.text().0
}

/// How a command ended and what it printed. Kept beside what it changed until that has been judged.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outcome {
    pub command: String,
    #[serde(flatten)]
    pub begun: Begun,
    ended: Ended,
    /// Files that were empty for the command, as far as it named them.
    hidden: Vec<String>,
    milliseconds: u64,
    output: String,
    truncated: bool,
    reached: Vec<String>,
    /// What was put back before anybody was asked, because no command may do it; effects as JSON.
    #[serde(default)]
    pub put_back: Vec<Value>,
    /// Lines about what else was not kept.
    #[serde(default)]
    pub notes: Vec<String>,
    /// What a server said to a call, in place of all the rest.
    #[serde(default)]
    answer: Option<Result<String, Problem>>,
}

const FILE: &str = "outcome.json";

/// What the kernel says to those who change what is mounted, and what is mounted read-only.
const BUSY: &str = "Device or resource busy";
const READ_ONLY: &str = "Read-only file system";

impl Outcome {
    pub fn new(command: &str, begun: Begun, finished: &Finished, capture: Capture) -> Self {
        let (output, truncated) = capture.text();
        Self {
            command: command.to_owned(),
            begun,
            ended: finished.ended,
            hidden: Vec::new(),
            milliseconds: u64::try_from(finished.took.as_millis()).unwrap_or(u64::MAX),
            output,
            truncated,
            reached: finished.reached.iter().map(|&limit| limit.to_owned()).collect(),
            put_back: Vec::new(),
            notes: Vec::new(),
            answer: None,
        }
    }

    /// Of a server's program that was there for one call.
    pub fn of_answer(answer: &Result<String, Problem>, begun: Begun, took: Duration) -> Self {
        let finished = Finished { ended: Ended::Exited(0), took, reached: Vec::new() };
        Self { answer: Some(answer.clone()), ..Self::new("", begun, &finished, Capture::default()) }
    }

    /// Notes which of the files that are kept from commands this one was about.
    #[must_use]
    pub fn hiding(mut self, hidden: &[OsString]) -> Self {
        let names = hidden.iter().map(Path::new).filter_map(|path| path.to_str().zip(path.file_name()?.to_str()));
        self.hidden = names.filter(|(_, name)| self.command.contains(name)).map(|(path, _)| format!("/{path}")).collect();
        self
    }

    fn secrets(&self) -> Option<String> {
        let list = self.hidden.join(", ");
        (!list.is_empty()).then(|| format!("[empty for commands, because it looks like a secret: {list}. `read` asks the user.]"))
    }

    /// What git can't do in the sandbox, where it says so in its own words.
    fn fixed(&self) -> Option<String> {
        let is_refused = |line: &str| line.contains(".git") && [BUSY, READ_ONLY].iter().any(|word| line.contains(word));
        let text = "[no command may change .git/config, .git/hooks, .git/info or .git/modules, so git failed to write there. What it says of branches, tags and commits holds all the same: only settings were not changed. Set one for a single command with `git -c NAME=VALUE`, or ask the user to change it.]";
        self.output.lines().any(is_refused).then(|| text.to_owned())
    }

    #[expect(clippy::disallowed_methods, reason = "a file of our own, in the data folder")]
    pub fn save(&self, folder: &Path) -> Result<(), Problem> {
        let failed = |error: std::io::Error| {
            Problem::new(ErrorCode::StorageFull, format!("The command's outcome can't be stored: {error}. Nothing it changed was kept."))
        };
        let text = serde_json::to_vec(self).map_err(|error| failed(error.into()))?;
        std::fs::write(folder.join(FILE), text).map_err(failed)
    }

    #[expect(clippy::disallowed_methods, reason = "a file of our own, in the data folder")]
    pub fn load(folder: &Path) -> Option<Self> {
        serde_json::from_slice(&std::fs::read(folder.join(FILE)).ok()?).ok()
    }

    /// What the model is told, once it is settled what of the changes is kept.
    ///
    /// # Errors
    /// `COMMAND_TIMED_OUT`.
    pub fn report(&self, kept: &[Change], withheld: &[Effect]) -> Result<Output, Problem> {
        let withheld = &self.withheld(withheld);
        if let Some(answer) = &self.answer {
            return self.answered(answer.clone(), kept, withheld);
        }
        let facts = json!({
            "exit_code": self.exit_code(),
            "duration_ms": self.milliseconds,
            "truncated": self.truncated,
            "limits_reached": self.reached,
            "changed": kept.iter().take(NAMED).map(|change| json!({"path": change.path, "change": change.word()})).collect::<Vec<_>>(),
            "withheld": withheld.iter().take(NAMED).collect::<Vec<_>>(),
        });
        let mut text = self.output.trim_end().to_owned();
        let lines = [Some(self.ending()), self.secrets(), self.fixed(), changes(kept), refusals(withheld)];
        for line in lines.into_iter().flatten().chain(self.notes.iter().cloned()) {
            text.push_str(if text.is_empty() { "" } else { "\n" });
            text.push_str(&line);
        }
        if self.ended == Ended::TimedOut {
            return Err(Problem::new(ErrorCode::CommandTimedOut, text).with_details(facts));
        }
        let data = match facts {
            Value::Object(facts) => facts,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => serde_json::Map::new(),
        };
        Ok(Output { text, data, signal: None })
    }

    /// All that no command may do and this one did.
    fn withheld(&self, withheld: &[Effect]) -> Vec<Value> {
        self.put_back.iter().cloned().chain(withheld.iter().filter_map(|effect| serde_json::to_value(effect).ok())).collect()
    }

    fn answered(&self, answer: Result<String, Problem>, kept: &[Change], withheld: &[Value]) -> Result<Output, Problem> {
        let lines = |text: String| {
            let lines = [Some(text), changes(kept), refusals(withheld)];
            lines.into_iter().flatten().chain(self.notes.iter().cloned()).collect::<Vec<_>>().join("\n")
        };
        match answer {
            Ok(text) => {
                let changed: Vec<Value> =
                    kept.iter().take(NAMED).map(|change| json!({"path": change.path, "change": change.word()})).collect();
                Ok(Output::text(lines(text)).with("duration_ms", self.milliseconds).with("changed", changed))
            }
            Err(problem) => Err(Problem { message: lines(problem.message.clone()), ..problem }),
        }
    }

    fn ending(&self) -> String {
        let seconds = format!("{}.{} s", self.milliseconds / 1000, self.milliseconds % 1000 / 100);
        let limits = if self.reached.is_empty() { String::new() } else { format!("; limits reached: {}", self.reached.join(", ")) };
        match self.ended {
            Ended::Exited(code) => format!("[exit code {code}, {seconds}{limits}]"),
            Ended::TimedOut => {
                format!("[ended after {seconds}, because its time was over{limits}. Give more with `timeout_s`, or do less at once.]")
            }
            Ended::Flooded => format!("[ended after {seconds}, because it printed too much{limits}]"),
            Ended::DiskFull => format!(
                "[ended after {seconds}, because the disk is nearly full{limits}. Nothing it changed was kept, and its caches in /scratch were cleared. Write less, or tell the user to free some space.]"
            ),
            Ended::DiskQuota => format!(
                "[ended after {seconds}, because it wrote more to the disk than one command may{limits}. Nothing it changed was kept, and its caches in /scratch were cleared. Write less at once, or tell the user to raise `disk_mb` of [sandbox] or to free some space.]"
            ),
            Ended::Stopped => format!("[stopped after {seconds}{limits}]"),
        }
    }

    fn exit_code(&self) -> Option<i32> {
        match self.ended {
            Ended::Exited(code) => Some(code),
            Ended::TimedOut | Ended::Flooded | Ended::DiskFull | Ended::DiskQuota | Ended::Stopped => None,
        }
    }
}

fn changes(kept: &[Change]) -> Option<String> {
    if kept.is_empty() {
        return None;
    }
    let named = kept.iter().take(20).map(|change| format!("{} {}", change.word(), change.path)).collect::<Vec<_>>().join(", ");
    let more = kept.len().saturating_sub(20);
    Some(if more > 0 { format!("[{named}, and {more} more]") } else { format!("[{named}]") })
}

fn refusals(withheld: &[Value]) -> Option<String> {
    let path = |effect: &Value| {
        let target = effect.get("target")?;
        Some(target.get("to").unwrap_or(target).as_str()?.to_owned())
    };
    let first = withheld.iter().find_map(path)?;
    let has_worktree = withheld.iter().filter_map(path).any(|path| path.starts_with("/.git/worktrees/"));
    let worktrees = if has_worktree {
        " No command can make, change or remove a linked worktree; its files are an ordinary folder. Ask the user to do it."
    } else {
        ""
    };
    Some(format!(
        "[not kept: {} changes that no command may make, such as to {first}. Leave git's configuration, Planwright's own files and other chats' plans as they are.{worktrees}]",
        withheld.len()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_flood_the_beginning_and_the_end_are_kept() {
        let mut capture = Capture::default();
        capture.take(b"first\n");
        for _ in 0..10_000 {
            capture.take(&[b'x'; 100]);
        }
        capture.take(b"\nlast");
        let (text, truncated) = capture.text();
        assert!(truncated && text.starts_with("first\n") && text.ends_with("\nlast") && text.len() < HEAD + TAIL + 100);
        assert!(text.contains("bytes left out"));
    }

    #[test]
    fn what_only_a_terminal_understands_is_left_out() {
        assert_eq!(plain("\u{1b}[31mred\u{1b}[0m\r\nok\u{7}"), "red\nok\u{fffd}");
        assert_eq!(plain("a\u{202e}b\u{2066}c\u{2069}"), "a\u{fffd}b\u{fffd}c\u{fffd}", "and what reorders text");
    }
}
