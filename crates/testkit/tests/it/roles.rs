//! A role is added in one place: its variant, its row and its prompt file.

use crate::files;

const TABLE: &str = "crates/protocol/src/role.rs";

/// Where a role's name stands all the same, with the reason. Only the two that a mode stands for may be here.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    ("crates/protocol/src/config.rs", "planner", "is also a word for plan mode"),
    ("crates/protocol/src/config.rs", "actor", "is also a word for act mode"),
    ("crates/tools/src/builtin/delegate.rs", "actor", "stands in the example of a call"),
    ("crates/store/src/chats.rs", "actor", "chats from before roles are an Actor's"),
    ("crates/store/src/records.rs", "actor", "calls from before roles are an Actor's"),
];

/// The names in the table, and the variants.
fn names() -> Vec<(String, String)> {
    let (_, table) = files(&[TABLE]).remove(0);
    let text = table.split("#[cfg(test)]").next().unwrap();
    let rows = text.split("RoleRow {").skip(2);
    let between = |row: &str, before: &str, after: &str| Some(row.split_once(before)?.1.split_once(after)?.0.to_owned());
    rows.filter_map(|row| Some((between(row, "name: \"", "\"")?, between(row, "role: Role::", ",")?))).collect()
}

/// What of a source is neither a comment nor a test.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod").next().unwrap_or_default();
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

fn says(code: &str, name: &str, variant: &str) -> bool {
    let code = code.to_lowercase();
    let literals = [format!("\"{name}\""), format!("'{name}'"), format!("role::{}", variant.to_lowercase())];
    literals.iter().any(|literal| code.contains(literal.as_str()))
}

#[test]
fn no_role_is_named_outside_its_row_its_prompt_and_tests() {
    let names = names();
    assert!(names.len() >= 6, "the table was not read: {names:?}");
    let sources = files(&[".rs", ".html", ".sql", ".ts", ".tsx"]);
    let product = sources.iter().filter(|(file, _)| {
        let is_test = file.contains("/tests/")
            || file.contains(".test.")
            || file.ends_with("/tests.rs")
            || file.ends_with("/trial.rs")
            || file.contains("/benches/");
        // The web UI shows the server's words, and has translations of them.
        let is_dictionary = file.starts_with("web/src/i18n/");
        !is_test && !is_dictionary && !file.starts_with("crates/testkit") && file != TABLE
    });
    let mut found = Vec::new();
    for (file, text) in product {
        let code = code(text);
        found.extend(names.iter().filter(|(name, variant)| says(&code, name, variant)).map(|(name, _)| (file.as_str(), name.as_str())));
    }
    let excused: Vec<(&str, &str)> = EXCEPTIONS.iter().map(|(file, name, _)| (*file, *name)).collect();
    for place in &found {
        assert!(excused.contains(place), "{} names the role {}; read the role's row instead", place.0, place.1);
    }
    for place in &excused {
        assert!(found.contains(place), "{} needs no exception for {} any more", place.0, place.1);
    }
}

#[test]
fn each_role_has_a_prompt_file_of_its_name() {
    let is_of_role = |text: &str| text.contains("You are operating in ");
    let prompts = files(&[".md"]).into_iter().filter(|(file, text)| file.starts_with("crates/agent/prompts/") && is_of_role(text));
    let mut prompts: Vec<String> = prompts.map(|(file, _)| file).collect();
    let mut expected: Vec<String> = names().iter().map(|(name, _)| format!("crates/agent/prompts/{name}.md")).collect();
    prompts.sort();
    expected.sort();
    assert_eq!(prompts, expected);
}
