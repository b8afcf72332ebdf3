//! A server of three as a process of its own.

use crate::home;
use crate::sign_in::{add_user, new_token};
use planwright_testkit::server::{Home, Server};
use planwright_testkit::team::bobs_folder;
use serde_json::json;

pub type Team = planwright_testkit::team::Team<Server, Home>;

/// With further arguments for the server.
pub async fn team(args: &[&str]) -> Team {
    let home = home(&json!({ "turns": [{ "text": "Noted." }], "repeat": true }));
    let folder = bobs_folder(&home);
    std::fs::create_dir(&folder).unwrap();
    for name in ["ann", "bob", "vic"] {
        add_user(&home, name, "a long password").await;
    }
    let tokens = [new_token(&home, "ann").await, new_token(&home, "bob").await, new_token(&home, "vic").await];
    let own = home.workspace().to_str().unwrap().to_owned();
    let args = [&["--auth", "users", "--workspace", &own, "--workspace", &folder], args].concat();
    let server = home.serve_without_token(&args).await;
    Team::new(home, server, tokens).await
}
