//! The numbers in `docs/guard-cases.md` are those of the cases. That each case holds which is not listed is for the harnesses to show.

use crate::root;
use planwright_testkit::guard::Suite;
use std::collections::BTreeMap;

/// Cases by group and harness, as the file of cases has them.
fn cases() -> Vec<(String, String)> {
    let text = std::fs::read_to_string(root().join("crates/testkit/data/guard-cases.json")).unwrap();
    let file: serde_json::Value = serde_json::from_str(&text).unwrap();
    let word = |case: &serde_json::Value, key: &str| case[key].as_str().unwrap().to_owned();
    file["cases"].as_array().unwrap().iter().map(|case| (word(case, "group"), word(case, "harness"))).collect()
}

#[test]
fn the_counts_of_guard_cases_are_those_of_the_cases() {
    let page = std::fs::read_to_string(root().join("docs/guard-cases.md")).unwrap();
    let cases = cases();
    assert_eq!(Suite::load().cases.len(), cases.len());
    let (_, counts) = page.split_once("## Counts").unwrap();
    let (counts, _) = counts.split_once("## Listed cases").unwrap();
    // By group and harnesses: the number that the page claims, and the number of listed ones.
    let mut told: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut all_listed = 0;
    for row in counts.lines().filter_map(|line| line.strip_prefix("| ")).filter(|row| row.contains('/')) {
        let cells: Vec<&str> = row.trim_end_matches('|').split('|').map(str::trim).collect();
        let [group, harnesses, passed, listed] = cells[..] else { panic!("{row}") };
        let (passed, all) = passed.split_once('/').unwrap();
        let [passed, all, listed] = [passed, all, listed].map(|number| number.parse::<usize>().unwrap());
        assert_eq!(passed + listed, all, "{row}");
        all_listed += listed;
        // A row may be about some of a group.
        let group = group.split(',').next().unwrap();
        *told.entry((group.to_owned(), harnesses.to_owned())).or_default() += all;
    }
    for ((group, harnesses), told) in &told {
        let count = cases.iter().filter(|(of, by)| of == group && harnesses.split(", ").any(|harness| harness == by)).count();
        assert_eq!(count, *told, "{group}, {harnesses}");
    }
    let run: usize = told.values().sum();
    for said in [
        format!("{} cases, each with", cases.len()),
        format!("{} of the {run} cases that run hold and {all_listed} are listed. {} cases", run - all_listed, cases.len() - run),
    ] {
        assert!(page.contains(&said), "docs/guard-cases.md should say: {said}");
    }
}
