//! The result of a command, for the model and for programs.

use super::{Covers, terminal};
use crate::effect::Effect;
use crate::tool::Output;
use crate::workspace::{Begun, EntryChange};
use planwright_protocol::{ErrorCode, Problem};
use planwright_sandbox::{CommandEnd, Finished};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::path::Path;
use std::time::Duration;

/// The beginning and the end of the output are kept, in bytes.
const HEAD: usize = 8 << 10;
const TAIL: usize = 24 << 10;
/// Maximum number of bytes shown while the command runs.
const SHOWN: u64 = 1 << 20;
/// Maximum number of listed files.
const NAMED: usize = 100;

/// The kept part of a command's output.
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

    fn text(self) -> CapturedText {
        let left_out = self.total - (self.head.len() + self.tail.len()) as u64;
        let mut bytes = self.head;
        if left_out > 0 {
            bytes.extend_from_slice(format!("\n[… {left_out} bytes left out …]\n").as_bytes());
        }
        bytes.extend(self.tail);
        let printed = String::from_utf8_lossy(&bytes);
        CapturedText { plain: terminal::plain(&printed), coloured: terminal::coloured(&printed), is_cut: left_out > 0 }
    }
}

struct CapturedText {
    plain: String,
    /// The same with its colours; `None` if it has none.
    coloured: Option<String>,
    is_cut: bool,
}

/// A foreign program's message, for the model: limited in length, without terminal sequences and characters that reorder text.
#[must_use]
pub fn for_model(text: &str) -> String {
    let mut capture = Capture::default();
    capture.take(text.as_bytes());
    capture.text().plain
}

/// How a command ended and what it printed. Stored beside its changes until they are decided.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outcome {
    pub command: String,
    #[serde(flatten)]
    pub begun: Begun,
    pub(super) ended: CommandEnd,
    /// The parts of the workspace that were hidden from the command.
    #[serde(default)]
    pub covers: Covers,
    milliseconds: u64,
    pub(super) output: String,
    /// The output with its colours, for people; `None` if it has none.
    #[serde(default)]
    coloured: Option<String>,
    truncated: bool,
    pub(super) reached: Vec<String>,
    /// Changes that no command may make, which were restored before the user was asked; effects as JSON.
    #[serde(default)]
    pub put_back: Vec<Value>,
    /// Lines about other discarded changes.
    #[serde(default)]
    pub notes: Vec<String>,
    /// A server's answer to a call, which replaces all the rest.
    #[serde(default)]
    answer: Option<Result<String, Problem>>,
}

/// The fact with the coloured output. The result's text has no colours, because they tell a model nothing.
pub const TERMINAL: &str = "terminal";
const FILE: &str = "outcome.json";
impl Outcome {
    pub fn new(command: &str, begun: Begun, finished: &Finished, capture: Capture) -> Self {
        let CapturedText { plain, coloured, is_cut } = capture.text();
        Self {
            command: command.to_owned(),
            begun,
            ended: finished.ended,
            covers: Covers::default(),
            milliseconds: u64::try_from(finished.took.as_millis()).unwrap_or(u64::MAX),
            output: plain,
            coloured,
            truncated: is_cut,
            reached: finished.reached.iter().map(|&limit| limit.to_owned()).collect(),
            put_back: Vec::new(),
            notes: Vec::new(),
            answer: None,
        }
    }

    /// For a server's program that ran for one call.
    pub fn of_answer(answer: &Result<String, Problem>, begun: Begun, took: Duration) -> Self {
        let finished = Finished { ended: CommandEnd::Exited(0), took, reached: Vec::new(), in_memory: None };
        Self { answer: Some(answer.clone()), ..Self::new("", begun, &finished, Capture::default()) }
    }

    /// Records what was hidden from the command.
    #[must_use]
    pub fn covering(self, covers: Covers) -> Self {
        Self { covers, ..self }
    }

    #[expect(clippy::disallowed_methods, reason = "a file of our own, in the data folder")]
    pub fn save(&self, folder: &Path) -> Result<(), Problem> {
        let failed = |error: std::io::Error| {
            Problem::new(ErrorCode::StorageFull, format!("Can't store the command's result: {error}. None of its changes was kept."))
        };
        let text = serde_json::to_vec(self).map_err(|error| failed(error.into()))?;
        std::fs::write(folder.join(FILE), text).map_err(failed)
    }

    #[expect(clippy::disallowed_methods, reason = "a file of our own, in the data folder")]
    pub fn load(folder: &Path) -> Option<Self> {
        serde_json::from_slice(&std::fs::read(folder.join(FILE)).ok()?).ok()
    }

    /// The report to the model, once the changes are decided.
    ///
    /// # Errors
    /// `COMMAND_TIMED_OUT`.
    pub fn report(&self, kept: &[EntryChange], withheld: &[Effect]) -> Result<Output, Problem> {
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
        let first = [Some(self.ending()), self.full_memory(), self.missing_tool()].into_iter().flatten().chain(self.covered());
        let rest = self.git_hints().into_iter().chain([self.foreign_owner(), changes(kept), refusals(withheld)].into_iter().flatten());
        for line in first.chain(rest).chain(self.notes.iter().cloned()) {
            text.push_str(if text.is_empty() { "" } else { "\n" });
            text.push_str(&line);
        }
        if self.ended == CommandEnd::TimedOut {
            return Err(Problem::new(ErrorCode::CommandTimedOut, text).with_details(facts));
        }
        let data = match facts {
            Value::Object(mut facts) => {
                if let Some(coloured) = &self.coloured {
                    facts.insert(TERMINAL.to_owned(), coloured.trim_end().into());
                }
                facts
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => serde_json::Map::new(),
        };
        Ok(Output { text, data, signal: None })
    }

    /// Everything that this command did and no command may do.
    fn withheld(&self, withheld: &[Effect]) -> Vec<Value> {
        self.put_back.iter().cloned().chain(withheld.iter().filter_map(|effect| serde_json::to_value(effect).ok())).collect()
    }

    fn answered(&self, answer: Result<String, Problem>, kept: &[EntryChange], withheld: &[Value]) -> Result<Output, Problem> {
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
            CommandEnd::Exited(code) => format!("[exit code {code}, {seconds}{limits}]"),
            CommandEnd::TimedOut => {
                format!("[ended after {seconds} by its timeout{limits}. Increase `timeout_s`, or do less at once.]")
            }
            CommandEnd::Flooded => format!("[ended after {seconds}, because it printed too much{limits}]"),
            CommandEnd::DiskFull => format!(
                "[ended after {seconds}, because the disk is nearly full{limits}. None of its changes was kept, and its caches in /scratch were cleared. Write less, or tell the user to free disk space.]"
            ),
            CommandEnd::DiskQuota => format!(
                "[ended after {seconds}, because it wrote more to the disk than one command may{limits}. None of its changes was kept, and its caches in /scratch were cleared. Write less at once, or tell the user to raise `disk_mb` in [sandbox] or to free disk space.]"
            ),
            CommandEnd::Stopped => format!("[stopped after {seconds}{limits}]"),
        }
    }

    fn exit_code(&self) -> Option<i32> {
        match self.ended {
            CommandEnd::Exited(code) => Some(code),
            CommandEnd::TimedOut | CommandEnd::Flooded | CommandEnd::DiskFull | CommandEnd::DiskQuota | CommandEnd::Stopped => None,
        }
    }
}

fn changes(kept: &[EntryChange]) -> Option<String> {
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
        " No command can create, change or remove a linked worktree; its files are an ordinary folder. Ask the user to do it."
    } else {
        ""
    };
    let repository = withheld.iter().find(|effect| effect["effect"] == "change_repository").and_then(path);
    let repositories = repository.map(|folder| format!(" {folder} belongs to a git repository that is not named `.git`, and no command may create or change one in the workspace: git obeys its configuration. Create it in /tmp, which is removed when the command ends, or ask the user to create it."));
    Some(format!(
        "[not kept: {} changes that no command may make, such as to {first}. Leave git's configuration, Planwright's own files and other chats' plans unchanged.{worktrees}{}]",
        withheld.len(),
        repositories.unwrap_or_default()
    ))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    #[test]
    fn of_a_flood_the_beginning_and_the_end_are_kept() {
        let mut capture = Capture::default();
        capture.take(b"first\n");
        for _ in 0..10_000 {
            capture.take(&[b'x'; 100]);
        }
        capture.take(b"\nlast");
        let CapturedText { plain: text, is_cut, .. } = capture.text();
        assert!(is_cut && text.starts_with("first\n") && text.ends_with("\nlast") && text.len() < HEAD + TAIL + 100);
        assert!(text.contains("bytes left out"));
    }

    pub(in crate::command) fn ended(code: i32, output: &str) -> Outcome {
        let finished = Finished { ended: CommandEnd::Exited(code), took: Duration::ZERO, reached: Vec::new(), in_memory: None };
        let mut capture = Capture::default();
        capture.take(output.as_bytes());
        Outcome::new("cargo test; cat .env sub/x; git commit -a", Begun::now(), &finished, capture)
    }

    #[test]
    fn colours_are_a_fact_for_people_and_not_in_the_text_for_the_model() {
        let output = ended(1, "\u{1b}[31mFAILED\u{1b}[0m one\n").report(&[], &[]).unwrap();
        assert!(output.text.starts_with("FAILED one\n[exit code 1"), "{}", output.text);
        assert_eq!(output.data[TERMINAL], "\u{1b}[31mFAILED\u{1b}[0m one");
        assert!(!ended(0, "plain").report(&[], &[]).unwrap().data.contains_key(TERMINAL));
    }
}
