//! What a new tool needs elsewhere, which no compiler points at.

use crate::files;
use std::collections::BTreeSet;

/// A built-in tool, by its source.
struct ToolSource {
    name: String,
    only_reads: bool,
}

/// One file each; the list in `builtin.rs` names the modules.
fn tools() -> Vec<ToolSource> {
    let sources = files(&[".rs"]);
    let source = |name: &str| sources.iter().find(|(path, _)| path == name).map(|(_, text)| text.as_str());
    let list = source("crates/tools/src/builtin.rs").unwrap();
    let modules = list.lines().filter_map(|line| line.trim().strip_prefix("&Builtin::<")?.split_once("::")).map(|(module, _)| module);
    let tool = |module: &str| {
        let text = source(&format!("crates/tools/src/builtin/{module}.rs")).unwrap();
        let spec = text.split("SPEC: Spec<'static> =").nth(1).unwrap();
        let spec = spec.split("fn prepare").next().unwrap();
        ToolSource { name: module.to_owned(), only_reads: spec.contains("Spec::reading(") || spec.contains("read_only: true") }
    };
    modules.map(tool).collect()
}

/// The words in quotes between two marks of a file.
fn quoted(path: &str, from: &str, to: &str) -> BTreeSet<String> {
    let (_, text) = files(&[path]).remove(0);
    let part = text.split(from).nth(1).unwrap().split(to).next().unwrap();
    part.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn the_linter_knows_exactly_the_tools_that_only_read() {
    let reading: BTreeSet<String> = tools().into_iter().filter(|tool| tool.only_reads).map(|tool| tool.name).collect();
    assert!(reading.len() > 10, "the tools were not found: {reading:?}");
    assert_eq!(quoted("crates/plan/src/lint.rs", "const READING_TOOLS", "];"), reading, "READING_TOOLS in crates/plan/src/lint.rs");
}

#[test]
fn every_tool_has_a_title_in_editors_and_a_row_in_the_web_ui() {
    let titled = quoted("crates/acp/src/calls.rs", "pub fn title(", "other => ");
    let (_, table) = files(&["web/src/lib/chat/tools.ts"]).remove(0);
    let table = table.split("const TOOLS").nth(1).unwrap().split("\n};").next().unwrap();
    for ToolSource { name, .. } in tools() {
        assert!(titled.contains(&name), "`title` in crates/acp/src/calls.rs has no words for {name}");
        assert!(table.contains(&format!("\n  {name}: ")), "web/src/lib/chat/tools.ts has no row for {name}");
    }
}
