//! Parts of the scripts that models play.

use serde_json::{Value, json};

/// The arguments of a plan with one step, which names the file it will write.
#[must_use]
pub fn plan(file: &str) -> Value {
    json!({
        "goal": "Say goodbye",
        "steps": [{ "step_number": 1, "action": "Write the file", "reason": "It is asked for", "tools_needed": ["write"], "files": [file] }],
    })
}

/// A call that writes a file.
#[must_use]
pub fn write(path: &str, content: &str) -> Value {
    json!({ "tool": "write", "args": { "path": path, "content": content } })
}
