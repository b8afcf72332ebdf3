//! The invariants of the architecture page, and those of them that the sources show.

use crate::{files, root};

/// The invariants, each as one line.
fn invariants() -> Vec<String> {
    let (_, page) = files(&["docs/ARCHITECTURE.md"]).remove(0);
    let section = page.split("## Invariants").nth(1).unwrap().split("\n## ").next().unwrap().to_owned();
    section.split("\n- ").skip(1).map(|item| item.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn every_invariant_names_what_holds_it_and_that_exists() {
    let invariants = invariants();
    assert!(invariants.len() > 30, "the invariants were not found");
    let sources = files(&[".rs"]);
    let is_test = |name: &str| sources.iter().any(|(_, text)| text.contains(&format!("fn {name}(")));
    for invariant in invariants {
        let Some((_, holders)) = invariant.rsplit_once("*Held by* ") else { panic!("nothing holds this: {invariant}") };
        let holders: Vec<&str> = holders.split('`').skip(1).step_by(2).collect();
        assert!(!holders.is_empty(), "nothing holds this: {invariant}");
        for holder in holders {
            assert!(is_test(holder) || root().join(holder).is_file(), "there is no test or file `{holder}`, which is to hold: {invariant}");
        }
    }
}

/// The product's code without its tests and comments.
fn code() -> Vec<(String, String)> {
    let is_product = |name: &str| name.starts_with("crates/") && name.contains("/src/") && !name.starts_with("crates/testkit/");
    let is_test = |name: &str| name.ends_with("/tests.rs") || name.contains("/tests/") || name.ends_with("/trial.rs");
    let without_comments = |text: &str| {
        let text = text.split("#[cfg(test)]\n").next().unwrap().to_owned();
        text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
    };
    let found = files(&[".rs"]).into_iter().filter(|(name, _)| is_product(name) && !is_test(name));
    found.map(|(name, text)| (name, without_comments(&text))).collect()
}

/// The files whose code has one of these words.
fn files_with(words: &[&str]) -> Vec<String> {
    let mut found: Vec<String> =
        code().into_iter().filter(|(_, text)| words.iter().any(|word| text.contains(word))).map(|(name, _)| name).collect();
    found.sort();
    found
}

#[test]
fn no_tool_asks_for_the_mode_it_runs_in() {
    let asking = files_with(&["config.plan_mode", "role.mode()", "Mode::Plan", "Mode::Act"]);
    let asking: Vec<&String> = asking.iter().filter(|name| name.starts_with("crates/tools/src/builtin")).collect();
    assert!(asking.is_empty(), "{asking:?} ask for the mode; announce an effect instead and let the gate decide");
}

#[test]
fn git_is_started_in_one_place() {
    assert_eq!(files_with(&["Command::new(\"git\")"]), ["crates/sandbox/src/probe.rs", "crates/sandbox/src/repository.rs"]);
}

#[test]
fn only_the_writing_of_a_chats_file_is_an_async_lock() {
    let locks = files_with(&["tokio::sync::Mutex", "tokio::sync::RwLock", "sync::{Mutex as Async"]);
    let locks: Vec<&String> = locks.iter().filter(|name| name.starts_with("crates/chat/")).collect();
    assert_eq!(locks, ["crates/chat/src/chat_file.rs"], "a lock that is held over an await makes chats wait");
}

/// Rows are read by the name of a column, so whoever reads this one names it.
#[test]
fn the_stored_mode_of_a_chat_only_filters_lists() {
    let reads = files_with(&["text(\"agent_mode\")", "get(\"agent_mode\")", "get::<_>(\"agent_mode\")"]);
    assert!(reads.is_empty(), "{reads:?} read the stored mode; ask the role");
    let texts = code().into_iter().filter(|(name, text)| name.starts_with("crates/store/") && text.contains("agent_mode"));
    let names: Vec<String> = texts.map(|(name, _)| name).collect();
    assert!(names.contains(&"crates/store/src/append_write.rs".to_owned()), "the column has another name: {names:?}");
}
