//! What a command's changes may do to the workspace when they land: to repositories, to git's history, to other people's files.

mod baseline;
mod build_output;
mod git_state;
mod history;
mod in_place;
mod repositories;
mod side_by_side;

use crate::command_effects::{BOTH_WAYS, actor, project, result, run};
use planwright_testkit::server::Home;
use serde_json::Value;
use std::path::Path;

/// Everything in a folder, at any depth, that is named like a repository or like our own folder.
fn own_entries(folder: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = entry.file_name().to_string_lossy().to_lowercase();
        if name == ".git" || name == ".planwright" {
            found.push(entry.path().display().to_string());
        } else if entry.file_type().unwrap().is_dir() {
            own_entries(&entry.path(), found);
        }
    }
}

fn own_entries_below(home: &Home, folders: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for folder in folders {
        own_entries(&home.workspace().join(folder), &mut found);
    }
    found
}

fn output(result: &Value) -> &str {
    let output = result["result"]["output"].as_str().or(result["error"]["message"].as_str());
    output.unwrap_or_default()
}

#[tokio::test]
async fn build_output_brings_no_repository_and_no_settings_into_the_workspace() {
    let deep = format!("node_modules/{}", "d/".repeat(124));
    let command = format!(
        "mkdir -p node_modules/a/.git/hooks node_modules/b/.PLANWRIGHT target/deep/er {deep} new/{deep}; \
         echo evil > node_modules/a/.git/hooks/post-checkout; echo \"default_mode='act'\" > node_modules/b/.PLANWRIGHT/config.toml; \
         echo gitdir: /tmp > target/deep/er/.git; ln -s /etc target/deep/.planwright; ln -s /etc {deep}.Git; mkdir {deep}.planwright; \
         ln target/deep/er/.git node_modules/a/.git/linked; echo gitdir: /tmp > target/.git; \
         echo x > node_modules/a/index.js; echo y > target/deep/er/y; true"
    );
    for environment in BOTH_WAYS {
        for existing in ["", "node_modules/a", "node_modules/a node_modules/b target/deep/er"] {
            let home = project(&[run(&command)]);
            for folder in existing.split_whitespace() {
                home.put(&format!("{folder}/here"), "here\n");
            }
            let server = home.serve_with(environment).await;
            let chat = actor(&server).await;
            let result = result(&chat, 0).await;
            assert_eq!(own_entries_below(&home, &["node_modules", "target", "new"]), Vec::<String>::new(), "{existing}: {result}");
            assert_eq!(home.file("node_modules/a/index.js").as_deref(), Some("x\n"), "{existing}: {result}");
            assert_eq!(home.file("target/deep/er/y").as_deref(), Some("y\n"), "{existing}: {result}");
            assert!(output(&result).contains("not kept") && output(&result).contains(".git"), "{existing}: {result}");
        }
    }
}

#[tokio::test]
async fn a_repository_inside_build_output_outlives_a_command_that_clears_it() {
    for environment in BOTH_WAYS {
        for command in [
            "rm -rf node_modules/own",
            "rm -rf node_modules/own/.git",
            "rm -rf node_modules; mkdir node_modules; echo x > node_modules/x",
            "echo evil > node_modules/own/.git/hooks/post-checkout",
            "mv node_modules/own node_modules/other",
            "rm -rf node_modules/own; echo a file > node_modules/own",
        ] {
            let home = project(&[run(&format!("{command}; true"))]);
            home.put("node_modules/own/.git/HEAD", "ref: refs/heads/main\n");
            home.put("node_modules/own/.git/hooks/README", "hooks\n");
            home.put("node_modules/own/index.js", "x\n");
            let server = home.serve_with(environment).await;
            let chat = actor(&server).await;
            let result = result(&chat, 0).await;
            assert_eq!(home.file("node_modules/own/.git/HEAD").as_deref(), Some("ref: refs/heads/main\n"), "{command}: {result}");
            assert_eq!(home.file("node_modules/own/.git/hooks/post-checkout"), None, "{command}: {result}");
            assert_eq!(own_entries_below(&home, &["node_modules"]).len(), 1, "{command}: {result}");
            assert!(output(&result).contains("not kept"), "{command}: {result}");
        }
    }
}

#[tokio::test]
async fn a_folder_with_a_repository_in_it_is_neither_moved_nor_deleted_by_a_command() {
    for environment in BOTH_WAYS {
        for command in ["mv vendor moved", "rm -rf vendor", "mv vendor/sub moved", "rm -rf vendor; echo x > vendor"] {
            let home = project(&[run(command)]);
            home.put("vendor/sub/.git/HEAD", "ref: refs/heads/main\n");
            home.put("vendor/sub/a.c", "int a;\n");
            let server = home.serve_with(environment).await;
            let chat = actor(&server).await;
            let result = result(&chat, 0).await;
            assert_eq!(home.file("vendor/sub/.git/HEAD").as_deref(), Some("ref: refs/heads/main\n"), "{command}: {result}");
            assert!(!home.workspace().join("moved/.git").exists(), "{command}: {result}");
            assert!(!home.workspace().join("moved/sub/.git").exists(), "{command}: {result}");
            assert_eq!(home.file("vendor/sub/a.c").as_deref(), Some("int a;\n"), "{command}: {result}");
            assert!(output(&result).contains("not kept"), "{command}: {result}");
        }
    }
}
