//! Scenarios of the API that need no process of their own: requests go to the router in this one.
#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests fail by panicking and look at files themselves")]

mod answers;
mod api;
mod audit;
mod auto_mode;
mod cards;
mod chat_files;
mod composer;
mod delegation;
mod drift;
mod events;
mod forged_records;
mod ground;
mod inbox;
mod intent;
mod intent_classifier;
mod life_cycle;
mod limits;
mod long_chats;
mod messages;
mod planner;
mod question_kinds;
mod questions;
mod roles;
mod set_up;
mod side_by_side;
mod sign_in;
mod tenancy;
mod tools_endpoint;
mod workspaces;

use ground::Home;
use planwright_testkit::script::{plan, write};
use serde_json::{Value, json};

fn home(script: &Value) -> Home {
    Home::new(script)
}

/// A home whose model says one thing, whatever is asked.
fn quiet_home() -> Home {
    home(&json!({ "turns": [{ "text": "Hello there" }], "repeat": true }))
}
