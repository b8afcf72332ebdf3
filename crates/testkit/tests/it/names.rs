//! One name for one public type.

use crate::files;
use std::collections::{BTreeMap, BTreeSet};

#[test]
fn no_two_public_types_share_a_name() {
    let sources = files(&[".rs"]).into_iter().filter(|(name, _)| name.contains("/src/") && !name.contains("tests"));
    let sources: Vec<_> = sources.map(|(name, text)| (name, text.split("#[cfg(test)]").next().unwrap().to_owned())).collect();
    let shared = shared_names(&sources);
    assert!(shared.is_empty(), "public types that share a name; rename one of them: {shared:#?}");
}

#[test]
fn a_shared_name_is_found_in_two_files_and_not_in_one() {
    let sources = [
        ("a/src/lib.rs".to_owned(), "pub struct Plan;\npub enum Step { A }\npub struct Step2;".to_owned()),
        ("b/src/lib.rs".to_owned(), "    pub struct Step<T>(T);\npub fn plan() {}\nstruct Plan;".to_owned()),
    ];
    assert_eq!(shared_names(&sources).into_keys().collect::<Vec<_>>(), ["Step"]);
}

/// The names of public types that are defined in more than one file, and these files.
fn shared_names(sources: &[(String, String)]) -> BTreeMap<String, BTreeSet<String>> {
    let mut names: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (file, text) in sources {
        for line in text.lines() {
            let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
            let is_type = words.next() == Some("pub") && matches!(words.next(), Some("struct" | "enum" | "trait" | "type" | "union"));
            if let (true, Some(name)) = (is_type && line.trim_start().starts_with("pub "), words.next()) {
                names.entry(name.to_owned()).or_default().insert(file.clone());
            }
        }
    }
    names.retain(|_, files| files.len() > 1);
    names
}
