//! What must hold after a call.

use super::arguments::base64;
use super::{Case, CaseDecision, CaseOutcome, Fixture, FolderTree, Invariant, Setup};
use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

/// A completed call.
#[derive(Debug)]
pub struct FinishedCall {
    pub outcome: CaseOutcome,
    pub elapsed: Duration,
    pub usage: ProcessUsage,
}

/// Changes of the process since the start of the call.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProcessUsage {
    pub grown_megabytes: u64,
    pub spawned: bool,
}

/// The state before the call.
#[derive(Debug)]
pub struct CallWatch {
    trees: HashMap<String, FolderTree>,
    entries: HashMap<String, FolderTree>,
    contents: HashMap<String, Vec<u8>>,
    resident_kilobytes: u64,
    children: Children,
}

impl FinishedCall {
    /// A call of another process, of which only the outcome is known.
    #[must_use]
    pub fn of(outcome: CaseOutcome) -> Self {
        Self { outcome, elapsed: Duration::ZERO, usage: ProcessUsage::default() }
    }
}

impl CallWatch {
    #[must_use]
    pub fn start(fixture: &Fixture, case: &Case) -> Self {
        let mut watch = Self {
            trees: ["$WS", "$OUT"].map(|root| (root.to_owned(), look(fixture, root))).into(),
            entries: HashMap::new(),
            contents: HashMap::new(),
            resident_kilobytes: 0,
            children: Children::now(),
        };
        for invariant in &case.expect.invariants {
            if let Invariant::Unchanged { paths } = invariant {
                watch.entries.extend(paths.iter().map(|path| (path.clone(), FolderTree::entry(&fixture.path(path)))));
            } else if let Invariant::ContentIn { path, .. } = invariant {
                watch.contents.insert(path.clone(), fs::read(fixture.path(path)).unwrap_or_default());
            }
        }
        // Resets the kernel's peak counter; if that fails, the measure only gets stricter.
        let _ = fs::write("/proc/self/clear_refs", "5");
        watch.resident_kilobytes = status("VmRSS");
        watch
    }

    #[must_use]
    pub fn usage(&self) -> ProcessUsage {
        ProcessUsage {
            grown_megabytes: status("VmHWM").saturating_sub(self.resident_kilobytes) >> 10,
            spawned: Children::now() != self.children,
        }
    }

    /// Changes in `$WS` or `$OUT`.
    #[must_use]
    pub fn changes(&self, fixture: &Fixture, root: &str) -> Vec<String> {
        self.trees.get(root).map(|before| before.changes(&look(fixture, root))).unwrap_or_default()
    }

    /// The violated invariants, one sentence each.
    #[must_use]
    pub fn broken(&self, fixture: &Fixture, case: &Case, run: &FinishedCall) -> Vec<String> {
        let mut broken: Vec<String> = case.expect.invariants.iter().flat_map(|invariant| self.breaks(fixture, invariant, run)).collect();
        // A refused call has changed nothing, whether or not the case says so. Only a call that fails halfway leaves a trace in
        // its folder's time.
        let fails_halfway = case.setup.iter().any(|setup| matches!(setup, Setup::FaultFs { .. }));
        if run.outcome.decision != CaseDecision::Allow && !case.either() && !fails_halfway {
            broken.extend(["$WS", "$OUT"].iter().flat_map(|root| self.changes(fixture, root)));
        }
        broken
    }

    fn breaks(&self, fixture: &Fixture, invariant: &Invariant, run: &FinishedCall) -> Vec<String> {
        let outcome = &run.outcome;
        let unless = |holds: bool, what: String| if holds { Vec::new() } else { vec![what] };
        match invariant {
            Invariant::TreeUnchanged { roots } => roots.iter().flat_map(|root| self.changes(fixture, root)).collect(),
            Invariant::Unchanged { paths } => {
                paths.iter().flat_map(|path| self.entries[path].changes(&FolderTree::entry(&fixture.path(path)))).collect()
            }
            Invariant::ContentEquals { path, equals } => holds_bytes(fixture, path, &[equals.as_bytes()]),
            Invariant::BytesB64 { path, equals } => holds_bytes(fixture, path, &[&base64(equals)]),
            Invariant::ContentIn { path, values } => {
                let old = &self.contents[path];
                let values: Vec<&[u8]> = values.iter().map(|value| if value == "<old>" { old } else { value.as_bytes() }).collect();
                holds_bytes(fixture, path, &values)
            }
            Invariant::ModeBits { path, equals } => {
                let mode = fs::metadata(fixture.path(path)).map(|metadata| format!("{:04o}", metadata.permissions().mode() & 0o7777));
                unless(mode.as_ref().is_ok_and(|mode| mode == equals), format!("{path} has the mode {mode:?}, not {equals}"))
            }
            Invariant::Absent { paths } => {
                let there = |path: &&PathBuf| path.symlink_metadata().is_ok();
                let paths: Vec<PathBuf> = paths.iter().map(|path| fixture.path(path)).collect();
                paths.iter().filter(there).map(|path| format!("{} is there", path.display())).collect()
            }
            Invariant::IsDir { path } => unless(fixture.path(path).is_dir(), format!("{path} is not a folder")),
            Invariant::OutputLacks { needles } => {
                let found = needles.iter().filter(|needle| leaves(outcome).contains(needle.as_str()));
                found.map(|needle| format!("the output has {needle:?}")).collect()
            }
            Invariant::OutputContains { needles } => {
                let missing = needles.iter().filter(|needle| !outcome.output.contains(needle.as_str()));
                missing.map(|needle| format!("the output lacks {needle:?}: {}", outcome.output)).collect()
            }
            Invariant::OutputBytes { max } => {
                let length = leaves(outcome).len();
                unless(length <= *max, format!("the output has {length} bytes"))
            }
            Invariant::MaxMatchesPerFile { path, max } => {
                let name = path.rsplit('/').next().unwrap_or(path);
                let count = outcome.output.matches(name).count();
                unless(count <= *max, format!("{name} is named {count} times: {}", outcome.output))
            }
            Invariant::DeadlineMs { max } => {
                unless(run.elapsed <= Duration::from_millis(*max), format!("took {:?}, not {max} ms", run.elapsed))
            }
            Invariant::RssGrowthMb { max } => {
                let grown = run.usage.grown_megabytes;
                unless(grown <= *max, format!("the process grew by {grown} MB"))
            }
            Invariant::ResultFlag { equals } => {
                unless(outcome.facts.get(equals) == Some(&true.into()), format!("{equals} is not set: {:?}", outcome.facts))
            }
            Invariant::ChatMode { equals } => unless(outcome.mode == *equals, format!("the mode is {}", outcome.mode)),
            Invariant::NoProcessSpawned => unless(!run.usage.spawned, "a process was started".to_owned()),
            Invariant::Escapes { .. } => {
                let changes = self.changes(fixture, "$OUT");
                unless(changes.is_empty(), changes.join("; "))
            }
            // A `String` is UTF-8; that the server answers again is tried after the call.
            Invariant::ValidUtf8InApi | Invariant::ServerAlive => Vec::new(),
            Invariant::IntentLabel { .. } | Invariant::Elsewhere => vec!["an invariant of another harness".to_owned()],
        }
    }
}

/// Without the chats' files, which the server writes independently of tools.
fn look(fixture: &Fixture, root: &str) -> FolderTree {
    let path = fixture.path(root);
    FolderTree::except(&path, Some(&path.join(".planwright/chats")))
}

/// All text that leaves the tool: the text and the facts.
fn leaves(outcome: &CaseOutcome) -> String {
    let facts = outcome.facts.values().map(|fact| fact.as_str().map_or_else(|| fact.to_string(), str::to_owned));
    std::iter::once(outcome.output.clone()).chain(facts).collect::<Vec<_>>().join("\n")
}

fn holds_bytes(fixture: &Fixture, path: &str, allowed: &[&[u8]]) -> Vec<String> {
    match fs::read(fixture.path(path)) {
        Ok(bytes) if allowed.contains(&bytes.as_slice()) => Vec::new(),
        Ok(bytes) => vec![format!("{path} has {:?}", String::from_utf8_lossy(&bytes))],
        Err(error) => vec![format!("{path}: {error}")],
    }
}

/// A number of kilobytes of `/proc/self/status`.
fn status(key: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or_default()
}

/// The process's children: the living ones, and counters of the ended ones.
#[derive(Debug, PartialEq, Eq)]
struct Children {
    present: String,
    /// Page faults of ended children: no process lives without one.
    faults_of_ended: Option<String>,
}

impl Children {
    fn now() -> Self {
        let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
        let present = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok()).collect();
        let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
        // The eleventh field of the line, the ninth after the name in parentheses.
        let faults_of_ended = stat.rsplit_once(") ").and_then(|(_, fields)| fields.split(' ').nth(8).map(str::to_owned));
        Self { present, faults_of_ended }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_was_started_and_ended_is_noticed() {
        let before = Children::now();
        assert_eq!(before, Children::now());
        std::process::Command::new("true").status().unwrap();
        assert_ne!(before, Children::now());
    }

    #[test]
    fn the_memory_in_use_is_known() {
        assert!(status("VmRSS") > 100 && status("VmHWM") >= status("VmRSS"));
    }
}
