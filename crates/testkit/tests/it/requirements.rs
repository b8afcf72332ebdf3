//! Every requirement is shown by a test, and every test that is named exists.

use crate::{files, root};
use std::collections::BTreeSet;

/// All ids there are, by prefix.
const IDS: &[(&str, u32)] =
    &[("PA", 18), ("PM", 9), ("PB", 25), ("CM", 6), ("AR", 11), ("CR", 7), ("CL", 10), ("HM", 9), ("RV", 9), ("TM", 5), ("EY", 7)];

struct Map {
    shown: Vec<(String, Vec<String>)>,
    unbuilt: BTreeSet<String>,
}

fn all_ids() -> BTreeSet<String> {
    IDS.iter().flat_map(|(prefix, count)| (1..=*count).map(move |number| format!("{prefix}-{number}"))).collect()
}

fn read_map() -> Map {
    let text = std::fs::read_to_string(root().join("docs/requirements.md")).unwrap();
    let (built, unbuilt) = text.split_once("## Not built yet").unwrap_or((&text, ""));
    let ids = all_ids();
    let rows = built.lines().filter_map(|line| line.strip_prefix("| ")).filter_map(|line| line.split_once(" | "));
    let shown = rows.filter(|(id, _)| ids.contains(*id)).map(|(id, rest)| (id.to_owned(), named_tests(rest))).collect();
    // A requirement that is built in part has its tests above, and its gaps in another line.
    let unbuilt = unbuilt.lines().find(|line| line.starts_with("- Not begun:")).unwrap_or_default();
    let unbuilt = unbuilt.split(|c: char| !c.is_alphanumeric() && c != '-').filter(|word| ids.contains(*word)).map(str::to_owned).collect();
    Map { shown, unbuilt }
}

#[test]
fn every_requirement_is_shown_by_a_test_or_listed_as_not_built() {
    let map = read_map();
    let shown: BTreeSet<String> = map.shown.iter().map(|(id, _)| id.clone()).collect();
    assert_eq!(shown.len(), map.shown.len(), "an id stands twice");
    for id in all_ids() {
        assert!(shown.contains(&id) != map.unbuilt.contains(&id), "{id} must stand either among the built or among the unbuilt");
    }
    for (id, tests) in &map.shown {
        assert!(!tests.is_empty(), "{id} names no test");
    }
}

/// Each row of the map with the tests it names, also those of ids that are not counted above.
fn all_rows() -> Vec<(String, Vec<String>)> {
    let text = std::fs::read_to_string(root().join("docs/requirements.md")).unwrap();
    let built = text.split("## Not built yet").next().unwrap();
    let is_id = |word: &str| word.split_once('-').is_some_and(|(prefix, number)| prefix.len() == 2 && number.parse::<u32>().is_ok());
    let rows = built.lines().filter_map(|line| line.strip_prefix("| ")?.split_once(" | ")).filter(|(id, _)| is_id(id));
    let rows: Vec<(String, Vec<String>)> = rows.map(|(id, rest)| (id.to_owned(), named_tests(rest))).collect();
    assert!(rows.len() > read_map().shown.len(), "the rows were not found");
    rows
}

/// The rows of the holes that were found, with the tests they name.
fn holes() -> Vec<(String, Vec<String>)> {
    let text = std::fs::read_to_string(root().join("docs/security.md")).unwrap();
    let (_, section) = text.split_once("\n## Holes that were found, and their tests\n").unwrap();
    let rows = section.split("\n## ").next().unwrap().lines().filter(|line| line.starts_with("| ") && line.contains('`'));
    let rows: Vec<(String, Vec<String>)> = rows.map(|line| (line.to_owned(), named_tests(line))).collect();
    let numbers: BTreeSet<u32> = rows.iter().filter_map(|(row, _)| row.split(' ').nth(1)?.parse().ok()).collect();
    assert_eq!(numbers, (1..=19).collect(), "each of the first holes has its row");
    rows
}

/// The tests that stand in the last column.
fn named_tests(row: &str) -> Vec<String> {
    row.rsplit(" | ").next().unwrap_or_default().split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn every_test_that_the_map_names_exists() {
    let sources: String = files(&[".rs", ".mjs", ".ts", ".tsx"]).into_iter().map(|(_, text)| text).collect();
    for (id, tests) in all_rows().into_iter().chain(holes()) {
        assert!(!tests.is_empty(), "{id} names no test");
        for test in tests {
            let name = test.rsplit("::").next().unwrap_or_default();
            let exists = match name.split_once(' ') {
                // The first word may be filled in for each of many.
                Some((_, rest)) => sources.contains(&format!("test('{name}'")) || sources.contains(&format!("}} {rest}`")),
                None => sources.contains(&format!("fn {name}(")),
            };
            assert!(exists, "{id} names the test {test}, which does not exist");
        }
    }
}
