//! The cases, parsed. Unused fields are left out.

use serde::{Deserialize, Serialize};
use serde_json::Value;

const CASES: &str = include_str!("../../data/guard-cases.json");

#[derive(Debug, Deserialize)]
pub struct Suite {
    /// The initial content of every tree.
    pub fixture: Vec<Setup>,
    pub cases: Vec<Case>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Case {
    pub id: String,
    pub group: String,
    pub title: String,
    pub role: String,
    pub tool: String,
    pub args: Value,
    pub raw_args: Option<String>,
    pub raw_args_b64: Option<String>,
    pub raw_args_gen: Option<NestedArray>,
    pub setup: Vec<Setup>,
    pub expect: Expectation,
    pub harness: Harness,
    pub race: Option<Race>,
    decision_note: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct NestedArray {
    pub depth: usize,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Race {
    attacker: String,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Expectation {
    pub decision: CaseDecision,
    pub code_any_of: Option<Vec<String>>,
    #[serde(default)]
    pub invariants: Vec<Invariant>,
}

/// Where a case can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Harness {
    Fs,
    Args,
    Race,
    Server,
    Cluster,
    Sandbox,
    Browser,
    Intent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CaseDecision {
    Allow,
    Deny,
    Ask,
    Error,
}

/// One change to the tree, or to the environment, before the call.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Setup {
    File {
        path: String,
        #[serde(default)]
        content: String,
        owner: Option<String>,
    },
    FileB64 {
        path: String,
        b64: String,
        mode: Option<String>,
    },
    /// A file with one line of this many bytes.
    FileGen {
        path: String,
        size: u64,
    },
    /// A sparse file of this size.
    Sparse {
        path: String,
        size: u64,
    },
    /// The same, beginning with lines of text.
    SparseText {
        path: String,
        size: u64,
    },
    Mkdir {
        path: String,
    },
    Rm {
        path: String,
    },
    Symlink {
        path: String,
        target: String,
    },
    Hardlink {
        path: String,
        target: String,
    },
    Fifo {
        path: String,
    },
    Socket {
        path: String,
    },
    Mknod {
        path: String,
    },
    /// System calls of the call fail.
    FaultFs {
        kind: InjectedFault,
    },
    #[serde(rename = "kill9_every_syscall")]
    KillAtEverySyscall,
    RemountRo,
    /// Belongs to a harness that does not run here.
    #[serde(other)]
    Elsewhere,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InjectedFault {
    ShortWrite,
    FsyncEio,
}

/// What must hold after the call.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Invariant {
    TreeUnchanged {
        #[serde(default)]
        roots: Vec<String>,
    },
    Unchanged {
        paths: Vec<String>,
    },
    ContentEquals {
        path: String,
        equals: String,
    },
    ContentIn {
        path: String,
        values: Vec<String>,
    },
    BytesB64 {
        path: String,
        equals: String,
    },
    ModeBits {
        path: String,
        equals: String,
    },
    Absent {
        paths: Vec<String>,
    },
    IsDir {
        path: String,
    },
    OutputLacks {
        needles: Vec<String>,
    },
    OutputContains {
        needles: Vec<String>,
    },
    OutputBytes {
        max: usize,
    },
    MaxMatchesPerFile {
        path: String,
        max: usize,
    },
    DeadlineMs {
        max: u64,
    },
    RssGrowthMb {
        max: u64,
    },
    ValidUtf8InApi,
    ResultFlag {
        equals: String,
    },
    ChatMode {
        equals: String,
    },
    IntentLabel {
        equals: String,
    },
    NoProcessSpawned,
    ServerAlive,
    Escapes {
        max: u64,
    },
    /// Belongs to a harness that does not run here.
    #[serde(other)]
    Elsewhere,
}

impl Suite {
    /// All cases of the file.
    ///
    /// # Panics
    /// The file is part of the crate; if it can't be read the crate is broken.
    #[must_use]
    #[expect(clippy::expect_used, reason = "the file is compiled in")]
    pub fn load() -> Self {
        serde_json::from_str(CASES).expect("guard-cases.json can be read")
    }

    pub fn of<'s>(&'s self, harnesses: &'s [Harness]) -> impl Iterator<Item = &'s Case> {
        self.cases.iter().filter(move |case| harnesses.contains(&case.harness))
    }
}

impl Case {
    /// Any decision is right while the invariants hold.
    #[must_use]
    pub fn either(&self) -> bool {
        self.decision_note.as_deref() == Some("either")
    }

    /// The two paths that the attacker of a race swaps.
    #[must_use]
    pub fn swapped(&self) -> Option<(&str, &str)> {
        self.race.as_ref()?.attacker.strip_prefix("renameat2 EXCHANGE ")?.split_once(' ')
    }
}

impl CaseDecision {
    #[must_use]
    pub fn refuses(self) -> bool {
        match self {
            CaseDecision::Deny | CaseDecision::Error => true,
            CaseDecision::Allow | CaseDecision::Ask => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_case_loads_and_every_id_is_there_once() {
        let suite = Suite::load();
        let ids: BTreeSet<&str> = suite.cases.iter().map(|case| case.id.as_str()).collect();
        assert_eq!(ids.len(), suite.cases.len());
        assert!(ids.len() > 400);
    }

    #[test]
    fn the_cases_of_the_file_tools_use_only_what_can_be_carried_out() {
        let suite = Suite::load();
        for case in suite.of(&[Harness::Fs, Harness::Args, Harness::Race]) {
            assert!(!case.setup.iter().any(|setup| matches!(setup, Setup::Elsewhere)), "{}", case.id);
            assert!(!case.expect.invariants.contains(&Invariant::Elsewhere), "{}", case.id);
            assert_eq!(case.race.is_some(), case.harness == Harness::Race, "{}", case.id);
            assert_eq!(case.swapped().is_some(), case.harness == Harness::Race, "{}", case.id);
        }
    }
}
