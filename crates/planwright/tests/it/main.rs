//! Scenarios through the real binary.
#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests fail by panicking and look at files themselves")]

mod acp;
mod api;
mod bound;
mod changes;
mod chat_cases;
mod client;
mod command_effects;
mod command_keep;
mod commands;
mod commits;
mod composer;
mod delegation;
mod disk;
mod export;
mod forged_records;
mod guide;
mod hostile_replies;
mod hostile_trees;
mod hosting;
mod injection;
mod install;
mod intent_classifier;
mod keeping;
mod keys;
mod kills;
mod landing;
mod matrix;
mod mcp;
mod model_context;
mod nodes;
mod older_databases;
mod outage;
mod plan_edited;
mod policy;
mod postgres;
mod progress;
mod provider_faults;
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
mod terminal_ui;
mod tools_endpoint;
mod trust;
mod wires;
mod workspaces;

use planwright_testkit::script::{plan, write};
use planwright_testkit::server::Home;
use serde_json::Value;

const BINARY: &str = env!("CARGO_BIN_EXE_planwright");

fn home(script: &Value) -> Home {
    Home::new(BINARY, script)
}
