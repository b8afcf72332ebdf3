//! Modules that need each other: few enough to be read together.

use crate::files;
use std::collections::{BTreeMap, BTreeSet};

/// The most modules of one crate that may need each other in a circle.
const LARGEST: usize = 5;

/// For each module of a crate, the modules of the same crate that it names.
type Graph = BTreeMap<String, BTreeSet<String>>;

#[test]
fn no_more_than_five_modules_of_a_crate_need_each_other_in_a_circle() {
    let mut crates: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    for (name, text) in files(&[".rs"]) {
        if let Some((of, path)) = name.strip_prefix("crates/").and_then(|name| name.split_once("/src/")) {
            crates.entry(of.to_owned()).or_default().push((path.to_owned(), text));
        }
    }
    let cycles = crates.into_iter().map(|(name, sources)| (name, largest_cycle(&graph(&sources))));
    let too_large: Vec<_> = cycles.filter(|(_, cycle)| cycle.len() > LARGEST).collect();
    assert!(too_large.is_empty(), "modules that need each other in a circle of more than {LARGEST}: {too_large:#?}");
}

#[test]
fn a_circle_is_found_through_others_and_apart_from_what_only_leads_to_it() {
    let graph = graph(&[
        ("lib.rs".to_owned(), "mod a;".to_owned()),
        ("a.rs".to_owned(), "use crate::b::B;".to_owned()),
        ("b.rs".to_owned(), "use crate::{c::C, d};\n// crate::e\n".to_owned()),
        ("c/deep.rs".to_owned(), "crate::a::f();\n#[cfg(test)]\nmod tests { use crate::e; }".to_owned()),
        ("d.rs".to_owned(), String::new()),
        ("e.rs".to_owned(), "use crate::a;".to_owned()),
    ]);
    assert_eq!(largest_cycle(&graph), ["a", "b", "c"]);
}

fn graph(sources: &[(String, String)]) -> Graph {
    let module = |path: &str| path.split(['/', '.']).next().unwrap_or_default().to_owned();
    let mut graph: Graph = sources.iter().map(|(path, _)| (module(path), BTreeSet::new())).collect();
    graph.retain(|name, _| name != "lib" && name != "main");
    let names: BTreeSet<String> = graph.keys().cloned().collect();
    for (path, text) in sources.iter().filter(|(path, _)| !path.ends_with("tests.rs")) {
        let own = module(path);
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let lines: Vec<&str> = code.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
        let needed: BTreeSet<String> = named(&lines.join("\n")).into_iter().filter(|name| *name != own && names.contains(name)).collect();
        if let Some(edges) = graph.get_mut(&own) {
            edges.extend(needed);
        }
    }
    graph
}

/// The modules after `crate::`, alone or in braces.
fn named(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    for rest in code.split("crate::").skip(1) {
        let mut depth = 0;
        let mut is_new = true;
        let mut word = String::new();
        for letter in rest.chars() {
            match letter {
                '{' => depth += 1,
                '}' => depth -= 1,
                letter if letter.is_alphanumeric() || letter == '_' => word.push(letter),
                _ => {}
            }
            let is_word = letter.is_alphanumeric() || letter == '_';
            if !is_word && !word.is_empty() {
                if is_new {
                    found.push(word.clone());
                }
                word.clear();
                is_new = false;
            }
            is_new |= letter == ',' && depth == 1;
            if depth <= 0 && !is_word {
                break;
            }
        }
    }
    found
}

/// The largest set of modules of which each leads to each.
fn largest_cycle(graph: &Graph) -> Vec<String> {
    let reached: BTreeMap<&String, BTreeSet<&String>> = graph.keys().map(|name| (name, reach(graph, name))).collect();
    let circle = |name: &String| -> Vec<String> {
        reached[name].iter().filter(|other| reached[**other].contains(name)).map(|other| (*other).clone()).collect()
    };
    graph.keys().map(circle).max_by_key(Vec::len).unwrap_or_default()
}

/// All that a module leads to, itself only through a circle.
fn reach<'g>(graph: &'g Graph, from: &String) -> BTreeSet<&'g String> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<&String> = graph[from].iter().collect();
    while let Some(name) = next.pop() {
        if reached.insert(name) {
            next.extend(&graph[name]);
        }
    }
    reached
}
