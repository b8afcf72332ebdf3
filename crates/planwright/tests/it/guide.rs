//! What the guide says is so: its commands run, its references are those of the binary, its examples work.

mod commands;
mod forms;
mod issues;
mod reference;

use std::path::PathBuf;

/// A file of the project.
fn file(path: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(path)
}

/// Compares a page that is made with the one that is kept. `UPDATE_GOLDEN=1 cargo test` writes it anew.
fn hold(path: &str, made: &str) {
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(file(path), made).unwrap();
    }
    let kept = std::fs::read_to_string(file(path)).unwrap_or_default();
    assert!(kept == made, "{path} is old: run `UPDATE_GOLDEN=1 cargo test --package planwright --test it guide::`");
}
