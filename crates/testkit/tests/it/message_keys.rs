//! Only the conversion in `protocol` knows the keys of a message's metadata.

use crate::files;

/// The words by which other code would look a key up, or write one.
const LOOKUPS: &[&str] =
    &[".metadata[", ".metadata.get", ".metadata.insert", ".metadata.remove", ".metadata.contains_key", ".metadata.iter", ".meta("];

/// Modules that read JSON which is no message of ours, and happen to call it metadata.
const OTHERS: &[&str] = &["crates/server/src/routes/ui.rs"];

/// Code that is not the conversion's, without its tests.
fn sources() -> impl Iterator<Item = (String, String)> {
    let is_ours = |name: &str| name.starts_with("crates/") && name.contains("/src/") && !name.starts_with("crates/protocol/src/message");
    let is_checked =
        move |(name, _): &(String, String)| is_ours(name) && !name.starts_with("crates/testkit/") && !OTHERS.contains(&name.as_str());
    files(&[".rs"]).into_iter().filter(is_checked)
}

#[test]
fn nobody_but_the_conversion_looks_up_a_key_of_a_messages_metadata() {
    let mut found = Vec::new();
    let mut looked_at = 0;
    for (name, text) in sources() {
        looked_at += 1;
        for (number, line) in text.lines().enumerate() {
            if LOOKUPS.iter().any(|lookup| line.contains(lookup)) {
                found.push(format!("{name}:{}: {}", number + 1, line.trim()));
            }
        }
    }
    assert!(looked_at > 100, "only {looked_at} files were looked at");
    assert!(found.is_empty(), "metadata is read as a typed body, never by its keys:\n{}", found.join("\n"));
}

#[test]
fn the_wire_form_is_made_and_read_only_at_the_edges() {
    let edges = [
        "crates/store/src/messages.rs",
        "crates/protocol/src/api/workspace.rs",
        "crates/client/src/chat.rs",
        "crates/server/src/routes/messages.rs",
        "crates/store/src/chats.rs",
        "crates/planwright/src/export.rs",
        "crates/chat/src/fork.rs",
    ];
    let users: Vec<String> = sources()
        .filter(|(name, text)| {
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            code.contains("WireMessage") && name != "crates/protocol/src/lib.rs"
        })
        .map(|(name, _)| name)
        .collect();
    assert!(users.iter().all(|name| edges.contains(&name.as_str())), "{users:?} use the wire form; bodies are for everybody else");
}
