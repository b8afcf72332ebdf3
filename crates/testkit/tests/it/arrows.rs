//! Which crate may know which.

use crate::{files, root};
use std::collections::BTreeMap;

/// The only dependencies allowed between our crates.
const ARROWS: &[(&str, &[&str])] = &[
    ("protocol", &[]),
    ("plan", &["protocol"]),
    ("question", &["protocol"]),
    ("config", &["protocol"]),
    ("sandbox", &["protocol"]),
    ("code", &["protocol"]),
    ("fetch", &["protocol"]),
    ("tools", &["protocol", "plan", "question", "sandbox", "code", "fetch"]),
    ("agent", &["protocol", "plan", "question", "tools"]),
    ("providers", &["protocol", "agent"]),
    ("store", &["protocol"]),
    ("feed", &["protocol", "store"]),
    ("workspaces", &["protocol", "tools", "store", "config"]),
    ("chat", &["protocol", "plan", "question", "tools", "agent", "store", "feed", "workspaces"]),
    ("mcp", &["protocol", "tools", "sandbox"]),
    ("server", &["protocol", "chat", "feed", "workspaces", "store"]),
    ("client", &["protocol"]),
    ("acp", &["protocol", "question", "client"]),
    ("tui", &["protocol", "client"]),
    (
        "planwright",
        &[
            "protocol",
            "plan",
            "question",
            "config",
            "sandbox",
            "tools",
            "agent",
            "providers",
            "store",
            "feed",
            "workspaces",
            "chat",
            "mcp",
            "server",
            "client",
            "tui",
            "acp",
        ],
    ),
    ("testkit", &[]),
];

/// Heavy trees live in one crate each, so that editing another never builds them again.
const HOMES: &[(&str, &str)] = &[
    ("sqlx", "store"),
    ("axum", "server"),
    ("rig-core", "providers"),
    ("rmcp", "mcp"),
    ("agent-client-protocol", "acp"),
    ("tree-sitter", "code"),
    ("ratatui", "tui"),
];

/// The names under `[dependencies]` of each crate; with `[dev-dependencies]` left out.
fn dependencies() -> BTreeMap<String, Vec<String>> {
    let manifests = files(&["Cargo.toml"])
        .into_iter()
        .filter_map(|(name, text)| Some((name.strip_prefix("crates/")?.strip_suffix("/Cargo.toml")?.to_owned(), text)));
    manifests
        .map(|(name, text)| {
            let section = text.split("\n[").find_map(|section| section.strip_prefix("dependencies]\n")).unwrap_or_default();
            (
                name,
                section
                    .lines()
                    .filter_map(|line| line.split(['.', ' ', '=']).next())
                    .filter(|name| !name.is_empty())
                    .map(str::to_owned)
                    .collect(),
            )
        })
        .collect()
}

#[test]
fn crates_depend_on_each_other_only_along_the_arrows() {
    for (name, dependencies) in dependencies() {
        let (_, allowed) =
            ARROWS.iter().find(|(known, _)| *known == name).unwrap_or_else(|| panic!("{name} has no place among the arrows"));
        for dependency in dependencies.iter().filter_map(|dependency| dependency.strip_prefix("planwright-")) {
            assert!(allowed.contains(&dependency), "{name} may not depend on {dependency}");
        }
    }
}

#[test]
fn a_heavy_dependency_has_one_home() {
    for (name, dependencies) in dependencies() {
        for (heavy, home) in HOMES {
            assert!(
                name == *home || !dependencies.iter().any(|dependency| dependency == heavy),
                "{heavy} belongs to {home}, not to {name}"
            );
        }
    }
}

#[test]
fn the_architecture_page_names_every_crate() {
    let page = std::fs::read_to_string(root().join("docs/ARCHITECTURE.md")).unwrap();
    for name in dependencies().keys() {
        assert!(page.contains(&format!("`{name}`")), "docs/ARCHITECTURE.md says nothing of {name}");
    }
}
