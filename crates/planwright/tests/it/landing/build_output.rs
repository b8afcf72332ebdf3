//! Build output that somebody else writes while a command runs: it is never overwritten or deleted without a word.

use super::output;
use crate::command_effects::{actor, project, result, run};
use planwright_testkit::server::Home;
use serde_json::Value;

/// Runs a command that says when it has begun and waits; meanwhile somebody else changes files.
async fn while_it_runs(home: &Home, meanwhile: impl Fn()) -> Value {
    home.put("signal", "");
    let server = home.serve().await;
    let chat = actor(&server).await;
    let events = chat.events(0, |event| event["type"] == "tool_output").await;
    meanwhile();
    home.put("signal", "go\n");
    let result = result(&chat, planwright_testkit::server::last_id(&events)).await;
    drop(server);
    result
}

fn waiting(command: &str) -> Value {
    run(&format!("{command}; echo begun; until grep -q go signal; do sleep 0.05; done; echo made > target/beside"))
}

#[tokio::test]
async fn a_file_of_build_output_that_somebody_else_changes_meanwhile_stays_theirs_and_it_is_told() {
    for command in [
        "echo mine > target/out",
        "echo mine >> target/out",
        "rm target/out",
        "rm target/out; echo mine > target/out",
        "echo mine > target/x; mv target/x target/out",
        "rm -r target; mkdir target",
        "rm -r target; mkdir target; echo mine > target/out",
        "rm target/out; mkdir target/out; echo mine > target/out/x",
        "ln -sf nowhere target/out",
    ] {
        let home = project(&[waiting(command)]);
        let result = while_it_runs(&home, || home.put("target/out", "theirs\n")).await;
        assert_eq!(home.file("target/out").as_deref(), Some("theirs\n"), "{command}: {result}");
        assert_eq!(home.file("target/beside").as_deref(), Some("made\n"), "{command}: {result}");
        let told = output(&result);
        assert!(told.contains("others changed it") && told.contains("/target/out"), "{command}: {result}");
        assert_eq!(result["result"]["conflicts"][0], "/target/out", "{command}: {result}");
    }
}

#[tokio::test]
async fn a_new_file_and_a_whole_folder_of_build_output_are_not_overwritten_either() {
    let home =
        project(&[waiting("echo mine > target/new; mkdir -p target/d; echo mine > target/d/a; rm -r target/e; echo mine > target/e")]);
    home.put("target/e/a", "old\n");
    let result = while_it_runs(&home, || {
        for path in ["target/new", "target/d/a", "target/e/b"] {
            home.put(path, "theirs\n");
        }
    })
    .await;
    for path in ["target/new", "target/d/a", "target/e/b"] {
        assert_eq!(home.file(path).as_deref(), Some("theirs\n"), "{path}: {result}");
    }
    for path in ["/target/new", "/target/d/a", "/target/e"] {
        assert!(output(&result).contains(path), "{path}: {result}");
    }
}

#[tokio::test]
async fn a_folder_of_build_output_that_somebody_else_removed_does_not_come_back_in_pieces() {
    let home = project(&[waiting("echo mine >> target/d/a")]);
    home.put("target/d/a", "old\n");
    home.put("target/d/b", "old\n");
    let result = while_it_runs(&home, || std::fs::remove_dir_all(home.workspace().join("target/d")).unwrap()).await;
    assert!(!home.workspace().join("target/d").exists(), "{result}");
    assert!(output(&result).contains("/target/d"), "{result}");
}

#[tokio::test]
async fn build_output_that_nobody_else_touches_is_replaced_without_a_word() {
    let home = project(&[waiting("echo mine > target/out; echo mine > target/a; echo mine > target/b; rm -r target/d")]);
    home.put("target/a", "old\n");
    home.put("target/d/x", "old\n");
    std::fs::hard_link(home.workspace().join("target/a"), home.workspace().join("target/b")).unwrap();
    let result = while_it_runs(&home, || home.put("target/other", "theirs\n")).await;
    for path in ["target/out", "target/a", "target/b"] {
        assert_eq!(home.file(path).as_deref(), Some("mine\n"), "{path}: {result}");
    }
    assert!(!home.workspace().join("target/d").exists() && home.file("target/other").is_some(), "{result}");
    assert!(!output(&result).contains("not kept"), "{result}");
}
