//! What tools of servers are called.

use planwright_protocol::{ErrorCode, Problem};
use planwright_tools::servers::BETWEEN;
use std::collections::BTreeMap;
use unicode_security::confusable_detection::skeleton;

/// No wire takes a longer one.
const LONGEST: usize = 64;

/// The server and the tool that a name is made of.
pub fn split(name: &str) -> Option<(&str, &str)> {
    name.split_once(BETWEEN).filter(|(server, tool)| !server.is_empty() && !tool.is_empty())
}

/// What a tool is called by the model. Wires take letters, digits, `-` and `_` alone, and servers have `.` and `/` as well.
pub fn called(server: &str, tool: &str) -> String {
    let tool: String = tool.chars().map(|c| if matches!(c, '.' | '/') { '_' } else { c }).collect();
    format!("{server}{BETWEEN}{tool}")
}

/// What is wrong with each of a server's tools, by their own names; nothing where there is nothing.
pub fn faults<'n>(server: &str, tools: impl Iterator<Item = &'n str>) -> BTreeMap<&'n str, Problem> {
    let mut alike: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for tool in tools {
        alike.entry(folded(tool)).or_default().push(tool);
    }
    let mut faults = BTreeMap::new();
    for tools in alike.values() {
        for (place, &tool) in tools.iter().enumerate() {
            let other = tools.iter().enumerate().find(|(at, _)| *at != place).map(|(_, other)| *other);
            if let Some(problem) = fault(server, tool, other) {
                faults.insert(tool, problem);
            }
        }
    }
    faults
}

fn fault(server: &str, tool: &str, other: Option<&str>) -> Option<Problem> {
    let refuse =
        |why: String| Some(Problem::new(ErrorCode::Conflict, format!("The tool {tool:?} of the MCP server `{server}` is not used: {why}")));
    if let Some(other) = other {
        return refuse(format!("its name looks like that of {other:?}, and nobody could tell which one is called."));
    }
    if !tool.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/')) {
        return refuse("its name has other characters than a-z, A-Z, 0-9, _ - . and /, which could be taken for these.".to_owned());
    }
    if called(server, tool).len() > LONGEST {
        return refuse(format!("its name is longer than the {LONGEST} characters that models can call. Give the server a shorter name."));
    }
    None
}

/// The same for all names that people or models could take for each other.
fn folded(tool: &str) -> String {
    let plain: String = skeleton(tool).flat_map(char::to_lowercase).collect();
    // Once more, because capitals look like other things than small letters do.
    skeleton(&plain).map(|c| if matches!(c, '-' | '.' | '/') { '_' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(tools: &[&str]) -> Vec<String> {
        faults("notes", tools.iter().copied()).into_keys().map(str::to_owned).collect()
    }

    #[test]
    fn names_that_look_alike_are_all_refused() {
        assert!(wrong(&["read", "write", "read_file", "list.all", "a/b"]).is_empty());
        for pair in [["r\u{435}ad", "Read"], ["read", "READ"], ["a.b", "a_b"], ["a/b", "a-b"], ["read", "read"]] {
            let found = wrong(&pair);
            assert!(pair.iter().all(|name| found.contains(&(*name).to_owned())), "{pair:?}: {found:?}");
        }
    }

    #[test]
    fn a_name_that_no_model_can_call_is_refused_alone() {
        let long = "x".repeat(60);
        assert_eq!(wrong(&["list", "r\u{435}ad", "a b", "", &long, "a\u{202e}b"]).len(), 4);
        assert!(faults("notes", ["r\u{435}ad"].into_iter()).values().all(|problem| problem.code == ErrorCode::Conflict));
        assert_eq!(called("fs", "a.b/c"), "fs__a_b_c");
        assert_eq!(split("fs__a__b"), Some(("fs", "a__b")));
        assert_eq!((split("fs"), split("__a"), split("a__")), (None, None, None));
    }
}
