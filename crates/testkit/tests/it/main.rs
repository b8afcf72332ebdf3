//! The rules of the project, held by tests.
#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests fail by panicking and read the sources")]

mod additions;
mod arrows;
mod budgets;
mod cycles;
mod guard_counts;
mod invariants;
mod links;
mod message_keys;
mod names;
mod permits;
mod requirements;
mod roles;

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The tracked files of the project with one of these endings, and their texts.
fn files(endings: &[&str]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let walk = ignore::WalkBuilder::new(root()).require_git(false).build();
    for entry in walk.map(Result::unwrap).filter(|entry| entry.path().is_file()) {
        let name = entry.path().strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
        if endings.iter().any(|ending| name.ends_with(ending)) {
            found.push((name, std::fs::read_to_string(entry.path()).unwrap()));
        }
    }
    assert!(!found.is_empty(), "the sources were not found");
    found
}
