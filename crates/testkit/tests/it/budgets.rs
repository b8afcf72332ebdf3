//! How long a file may be, and how plain a switch of role must stay.

use crate::files;

const HARD: usize = 600;
const SOFT: usize = 400;
const DRIVER: usize = 120;

/// Files between the soft and the hard budget, each with the reason why it is not split.
const EXCEPTIONS: &[(&str, &str)] = &[];

#[test]
fn files_stay_within_their_budgets() {
    let mut over = Vec::new();
    for (name, text) in files(&[".rs", ".ts", ".tsx", ".mjs", ".html"]) {
        let lines = text.lines().count();
        let excused = EXCEPTIONS.iter().any(|(exception, _)| *exception == name);
        if lines > HARD || (lines > SOFT && !excused) {
            over.push(format!("{name}: {lines}"));
        }
    }
    assert!(over.is_empty(), "over {SOFT} lines, split by concept: {over:#?}");
}

#[test]
fn an_exception_that_is_not_needed_is_removed() {
    for (name, text) in files(&[".rs", ".ts", ".tsx", ".mjs", ".html"]) {
        let excused = EXCEPTIONS.iter().any(|(exception, _)| *exception == name);
        assert!(!excused || text.lines().count() > SOFT, "{name} needs no exception any more");
    }
}

#[test]
fn the_driver_stays_a_short_loop() {
    let (_, driver) = files(&["agent/src/driver.rs"]).remove(0);
    assert!(driver.lines().count() <= DRIVER);
}

#[test]
fn roles_and_modes_are_told_apart_in_one_place() {
    // Everything else reads the role's row; a second place would have to be kept in step with it.
    for (name, text) in files(&[".rs"]).iter().filter(|(name, _)| name.contains("/src/") && !name.starts_with("crates/testkit")) {
        if name.ends_with("protocol/src/role.rs") || name.ends_with("protocol/src/config.rs") {
            continue;
        }
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for forbidden in [
            "match role {",
            "match self.role {",
            "match row.role {",
            "match config.role {",
            "== \"plan\"",
            "== \"act\"",
            "== \"build\"",
            "if plan_mode",
            "if !plan_mode",
        ] {
            assert!(!code.contains(forbidden), "{name} has `{forbidden}`; read the role's row instead");
        }
    }
}

#[test]
fn files_are_named_after_what_they_hold() {
    for (name, _) in files(&[".rs", ".ts", ".tsx"]) {
        let stem = name.rsplit('/').next().unwrap_or_default().split('.').next().unwrap_or_default();
        for vague in ["utils", "util", "helpers", "helper", "manager", "misc", "common", "v2", "legacy", "part2"] {
            assert_ne!(stem, vague, "{name} says nothing of what it holds");
        }
    }
}

#[test]
fn the_project_speaks_of_itself_alone() {
    for (name, text) in files(&[".rs", ".md", ".toml", ".mjs", ".html", ".json", "Makefile", ".sql"]) {
        for foreign in ["/root/", "/home/user", "crates.io-", "registry.npmjs", "../shared"] {
            assert!(
                !text.contains(foreign) || name.ends_with("budgets.rs") || name.ends_with("guard-cases.json"),
                "{name} mentions {foreign}"
            );
        }
    }
}
