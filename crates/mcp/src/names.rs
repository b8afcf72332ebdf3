//! The names of servers' tools.

use planwright_protocol::{ErrorCode, Problem};
use planwright_tools::servers::BETWEEN;
use std::collections::BTreeMap;
use unicode_security::confusable_detection::skeleton;

/// Maximum length on any wire format.
const LONGEST: usize = 64;

/// Maximum characters of a name in a message; a server can give it any length.
const SHOWN: usize = 100;

/// The server and the tool in a name.
pub fn split(name: &str) -> Option<(&str, &str)> {
    name.split_once(BETWEEN).filter(|(server, tool)| !server.is_empty() && !tool.is_empty())
}

/// The name for models. Wire formats allow only letters, digits, `-` and `_`; servers also use `.` and `/`.
pub fn model_name(server: &str, tool: &str) -> String {
    let tool: String = tool.chars().map(|c| if matches!(c, '.' | '/') { '_' } else { c }).collect();
    format!("{server}{BETWEEN}{tool}")
}

/// The problems of a server's tools, by their own names.
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
    let shown = |name: &str| name.chars().take(SHOWN).collect::<String>();
    let refuse = |why: String| {
        let text = format!("The tool {:?} of the MCP server `{server}` is not used: {why}", shown(tool));
        Some(Problem::new(ErrorCode::Conflict, text))
    };
    if let Some(other) = other {
        return refuse(format!("its name looks like {:?}, so nobody could tell which one is meant.", shown(other)));
    }
    if !tool.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/')) {
        return refuse("its name has characters other than a-z, A-Z, 0-9, _ - . and /, which could be mistaken for these.".to_owned());
    }
    if model_name(server, tool).len() > LONGEST {
        return refuse(format!("its name is longer than {LONGEST} characters, which models can't call. Give the server a shorter name."));
    }
    None
}

/// Equal for all names that people or models could confuse.
fn folded(tool: &str) -> String {
    let plain: String = skeleton(tool).flat_map(char::to_lowercase).collect();
    // Folded again, because capitals resemble other characters than small letters do.
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
        let endless = "x".repeat(1 << 16);
        for tools in [&[endless.as_str()][..], &[&endless, &endless.to_uppercase()]] {
            assert!(faults("notes", tools.iter().copied()).values().all(|problem| problem.message.len() < 1000));
        }
        assert_eq!(model_name("fs", "a.b/c"), "fs__a_b_c");
        assert_eq!(split("fs__a__b"), Some(("fs", "a__b")));
        assert_eq!((split("fs"), split("__a"), split("a__")), (None, None, None));
    }
}
