//! Nobody but the gate makes a permit, and nothing changes a workspace without one.

use crate::files;

const GATE: &str = "crates/tools/src/gate";
const PERMITS: &str = "crates/tools/src/gate/permit.rs";

/// The product's code without its tests.
fn sources() -> Vec<(String, String)> {
    let is_product = |name: &str| name.starts_with("crates/") && name.contains("/src/") && !name.starts_with("crates/testkit/");
    let is_test = |name: &str| name.ends_with("/tests.rs") || name.ends_with("/trial.rs");
    let found = files(&[".rs"]).into_iter().filter(|(name, _)| is_product(name) && !is_test(name));
    found.map(|(name, text)| (name, text.split("#[cfg(test)]\n").next().unwrap().to_owned())).collect()
}

fn source(name: &str) -> String {
    sources().into_iter().find(|(file, _)| file == name).unwrap().1
}

/// The name of each permit, with its attributes and fields.
fn permits() -> Vec<(String, String)> {
    let text = source(PERMITS);
    let items = text.split("\n#[derive").skip(1).filter_map(|item| {
        let name = item.split_once("pub struct ")?.1.split_once(" {")?.0.to_owned();
        Some((name, item.split_once("\n}").map_or(item, |(item, _)| item).to_owned()))
    });
    items.collect()
}

#[test]
fn a_permit_has_no_field_that_others_can_set_and_nothing_makes_a_second_of_it() {
    let permits = permits();
    assert!(permits.len() >= 11, "the permits were not found: {permits:?}");
    for (name, item) in permits {
        assert!(name.ends_with("Permit"), "{name} is no permit");
        assert!(item.starts_with("(Debug)]\n"), "{name} derives more than Debug");
        let (_, fields) = item.split_once(" {").unwrap();
        assert!(!fields.contains("pub"), "{name} has a field that others can set");
    }
    let is_declared = |text: &str| text.lines().any(|line| line.starts_with("pub struct ") && line.contains("Permit {"));
    let elsewhere: Vec<String> =
        sources().into_iter().filter(|(name, text)| name != PERMITS && is_declared(text)).map(|(name, _)| name).collect();
    assert!(elsewhere.is_empty(), "{elsewhere:?} declare permits; they belong to {PERMITS}");
}

#[test]
fn a_permit_comes_of_a_decision_of_the_gate_and_of_nothing_else() {
    let text = source(PERMITS);
    let makers = text.split("    pub").skip(1).filter_map(|item| {
        let signature = item.split_once(" {\n")?.0;
        let result = signature.split_once("->")?.1;
        (result.contains("Permit") || result.contains("Self")).then(|| signature.to_owned())
    });
    let makers: Vec<String> = makers.collect();
    assert!(makers.len() >= 9, "{makers:?}");
    for maker in makers {
        let is_of_permit = maker.contains("(&self");
        let is_private = maker.starts_with("(super) fn new");
        let is_choice = maker.starts_with(" fn of<T>");
        assert!(is_of_permit || is_private || is_choice, "`{maker}` makes a permit out of nothing");
    }
    for (name, text) in sources().iter().filter(|(name, _)| !name.starts_with(GATE)) {
        for word in ["Permit::new(", "Permit::default(", "impl Clone for Permit"] {
            let found = text.lines().find(|line| line.contains(word) && !line.contains("Semaphore"));
            assert!(found.is_none(), "{name}: {found:?}");
        }
    }
}

/// What undoes a command's changes needs no decision, so only the module that knows them may ask for it.
#[test]
fn only_what_a_command_left_is_put_back_without_a_decision() {
    let users: Vec<String> = sources()
        .into_iter()
        .filter(|(name, text)| !name.starts_with(GATE) && text.contains("permit_put_back("))
        .map(|(name, _)| name)
        .collect();
    assert_eq!(users, ["crates/tools/src/command/staged.rs"]);
}

/// Calls that change what is on the disk.
const CHANGING: &[&str] = &[
    "mkdirat(",
    "renameat",
    "unlinkat(",
    "symlinkat(",
    "linkat(",
    "utimensat(",
    "chmod",
    "remove_tree(",
    "remove_entry(",
    "remove_leftover(",
    "atomic::replace",
    "atomic::copy",
    "OFlags::CREATE",
    "OFlags::WRONLY",
    "OFlags::RDWR",
];

/// Methods of a workspace that change something without a permit, and why.
const WITHOUT: &[(&str, &str)] = &[
    ("append_chat", "the chat's own file, which no tool can name"),
    ("rewrite_chat", "the chat's own file, which no tool can name"),
    ("remove_chat", "the chat's own file, which no tool can name"),
    ("remove_leftovers", "temporary files of ours, left by a process that was killed"),
    ("mirror", "copies in the data folder"),
];

/// The methods in the workspace's modules: the file, whether everybody may call it, the signature and the body.
fn methods() -> Vec<(String, bool, String, String)> {
    let is_workspace = |name: &str| name == "crates/tools/src/workspace.rs" || name.starts_with("crates/tools/src/workspace/");
    let mut found = Vec::new();
    for (file, text) in sources().into_iter().filter(|(name, _)| is_workspace(name)) {
        for method in text.split("\n    }\n") {
            let Some((head, body)) = method.rsplit_once("    fn ").or_else(|| method.rsplit_once(" fn ")) else { continue };
            let Some((signature, body)) = body.split_once("{\n") else { continue };
            let is_public = head.ends_with("\n    pub");
            found.push((file.clone(), is_public, signature.to_owned(), body.to_owned()));
        }
    }
    found
}

fn called(signature: &str) -> &str {
    signature.split(['(', '<']).next().unwrap()
}

#[test]
fn no_public_method_changes_a_workspace_without_a_permit() {
    let methods = methods();
    assert!(methods.len() > 60, "only {} methods were found", methods.len());
    let mut changing: Vec<String> = CHANGING.iter().map(|call| (*call).to_owned()).collect();
    // What a private method changes, its callers change; but for the reader of a stage, whose folders it opens.
    let is_private = |(file, is_public, ..): &&(String, bool, String, String)| !is_public && !file.ends_with("/overlay.rs");
    loop {
        let known = changing.len();
        for (_, _, signature, body) in methods.iter().filter(is_private) {
            let call = format!("self.{}(", called(signature));
            if !changing.contains(&call) && changing.iter().any(|call| body.contains(call)) {
                changing.push(call);
            }
        }
        if changing.len() == known {
            break;
        }
    }
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for (file, _, signature, body) in methods.iter().filter(|(_, is_public, signature, _)| *is_public && signature.contains("&self")) {
        let name = called(signature);
        // A landing has its permit with it.
        if signature.contains("Permit") || signature.contains("Landing") {
            assert!(body.contains("permit.enter(") || body.contains("permit.check("), "{file}: {name} does not look at its permit");
            with.push(name);
        } else if changing.iter().any(|call| body.contains(call)) {
            without.push((file, name));
        }
    }
    with.sort_unstable();
    assert_eq!(with, ["land", "make_folder", "put_back", "remove", "rename", "restore", "touch", "write", "write_progress"]);
    let excused: Vec<&str> = WITHOUT.iter().map(|(name, _)| *name).collect();
    let unexcused: Vec<_> = without.iter().filter(|(_, name)| !excused.contains(name)).collect();
    assert!(unexcused.is_empty(), "{unexcused:?} change a workspace without a permit");
    assert!(excused.iter().all(|excused| without.iter().any(|(_, name)| name == excused)), "an exception is not needed: {without:?}");
}
