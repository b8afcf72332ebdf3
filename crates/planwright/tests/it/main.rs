//! Scenarios through the real binary.
#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests fail by panicking and look at files themselves")]

mod acp;
mod answers;
mod api;
mod audit;
mod auto_mode;
mod bound;
mod cards;
mod changes;
mod chat_cases;
mod chat_files;
mod client;
mod command_effects;
mod command_keep;
mod commands;
mod commits;
mod composer;
mod delegation;
mod disk;
mod drift;
mod events;
mod export;
mod forged_records;
mod guide;
mod hostile_replies;
mod hostile_trees;
mod hosting;
mod inbox;
mod injection;
mod install;
mod intent;
mod intent_classifier;
mod keeping;
mod keys;
mod kills;
mod landing;
mod life_cycle;
mod limits;
mod long_chats;
mod matrix;
mod mcp;
mod messages;
mod model_context;
mod nodes;
mod older_databases;
mod outage;
mod plan_edited;
mod planner;
mod policy;
mod postgres;
mod progress;
mod provider_faults;
mod question_kinds;
mod questions;
mod real_model;
mod real_work;
mod recovery;
mod retention;
mod revert_property;
mod roles;
mod run;
mod sandbox_cases;
mod sent_again;
mod serve;
mod set_up;
mod side_by_side;
mod sign_in;
mod silent_clients;
mod small_disk;
mod stops;
mod storage;
mod tenancy;
mod terminal;
mod tools_endpoint;
mod trust;
mod wires;
mod workspaces;

use planwright_testkit::server::Home;
use serde_json::{Value, json};

const BINARY: &str = env!("CARGO_BIN_EXE_planwright");

fn home(script: &Value) -> Home {
    Home::new(BINARY, script)
}

/// One step that names the file it will write.
fn plan(file: &str) -> Value {
    json!({
        "goal": "Say goodbye",
        "steps": [{ "step_number": 1, "action": "Write the file", "reason": "It is asked for", "tools_needed": ["write"], "files": [file] }],
    })
}

fn write(path: &str, content: &str) -> Value {
    json!({ "tool": "write", "args": { "path": path, "content": content } })
}
