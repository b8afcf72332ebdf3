//! The guide is correct: its commands run, its references are those of the binary, its examples work.

mod commands;
mod configuration;
mod forms;
mod issues;
mod reference;
mod review;
mod runner;

use std::path::{Path, PathBuf};

/// A file of the project.
fn file(path: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(path)
}

/// The README and every page of docs, by their paths in the project.
fn pages() -> Vec<String> {
    fn below(folder: &Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.path().is_dir() {
                below(&entry.path(), found);
            } else if entry.path().extension().is_some_and(|ending| ending == "md") {
                found.push(entry.path().strip_prefix(file("")).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    let mut found = vec!["README.md".to_owned()];
    below(&file("docs"), &mut found);
    found.sort();
    found
}

/// Compares a page that is made with the one that is kept. `UPDATE_GOLDEN=1 cargo test` writes it anew.
fn hold(path: &str, made: &str) {
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(file(path), made).unwrap();
    }
    let kept = std::fs::read_to_string(file(path)).unwrap_or_default();
    assert!(kept == made, "{path} is old: run `UPDATE_GOLDEN=1 cargo test --package planwright --test it guide::`");
}
