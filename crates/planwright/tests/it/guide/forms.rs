//! The forms that `planwright schema` prints: of the lines of `run --json`, and of the configuration.

use super::hold;
use crate::{home, plan, write};
use planwright_testkit::server::Home;
use serde_json::{Value, json};
use std::collections::BTreeSet;

pub async fn printed(form: &str) -> String {
    let output = home(&json!({ "turns": [] })).command(&["schema", form]).output().await.unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[tokio::test]
async fn the_kept_schemas_are_those_that_the_binary_prints() {
    for form in ["events", "config"] {
        hold(&format!("docs/guide/{form}.schema.json"), &printed(form).await);
    }
}

/// Runs a task, holds each line to the schema, and gives the types of the events.
async fn lines_that_fit(validator: &jsonschema::Validator, home: &Home, args: &[&str]) -> Vec<String> {
    let output = home.command(&[&["run", "--json"], args].concat()).output().await.unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let fitting = |line: &str| {
        let event: Value = serde_json::from_str(line).unwrap();
        let errors: Vec<String> = validator.iter_errors(&event).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(errors.is_empty(), "{line}\n{errors:#?}");
        event["type"].as_str().unwrap().to_owned()
    };
    let types: Vec<String> = text.lines().map(fitting).collect();
    assert_eq!(types.last().map(String::as_str), Some("run_finished"), "{text}");
    types
}

#[tokio::test]
async fn what_run_prints_with_json_fits_the_schema() {
    let validator = jsonschema::options().should_validate_formats(true).build(&serde_json::from_str(&printed("events").await).unwrap());
    let validator = validator.unwrap();
    let working = home(&json!({
        "plan": [
            { "reasoning": "Hm.", "text": "Let me look.", "calls": [write("/bye.txt", "no"), { "tool": "ls", "args": {} }] },
            { "calls": [{ "tool": "write_plan", "args": plan("bye.txt") }] },
            { "calls": [{ "tool": "exit_plan_mode", "args": { "plan_file_path": "/plans/say-goodbye.plan" } }] },
        ],
        "act": [
            { "calls": [{ "tool": "update_step", "args": { "step_number": 1, "status": "in_progress" } }, write("/bye.txt", "Bye\n")] },
            { "calls": [{ "tool": "run", "args": { "command": "echo hello; rm bye.txt" } }] },
            { "calls": [{ "tool": "ask_user", "args": { "questions": [
                { "name": "tone", "question": "Which tone?", "schema": { "enum": ["warm", "cool"], "default": "warm" } },
            ] } }] },
            { "calls": [{ "tool": "read", "args": { "path": "/missing" } }] },
            { "text": "Done." },
        ],
    }));
    let mut seen = BTreeSet::new();
    seen.extend(lines_that_fit(&validator, &working, &["Say goodbye"]).await);
    seen.extend(lines_that_fit(&validator, &working, &["Go", "--mode", "act", "--plan", "plans/say-goodbye.plan", "--yes"]).await);
    let failing = home(&json!({ "turns": [{ "error": "PROVIDER_REJECTED" }] }));
    seen.extend(lines_that_fit(&validator, &failing, &["Hi"]).await);
    // A run that can't begin.
    let _server = failing.serve().await;
    seen.extend(lines_that_fit(&validator, &failing, &["Hi"]).await);
    let all = [
        "message_created",
        "message_updated",
        "text_delta",
        "reasoning_delta",
        "tool_call",
        "tool_output",
        "tool_result",
        "state_changed",
        "question_pending",
        "question_resolved",
        "mode_changed",
        "plan_updated",
        "plan_step",
        "usage",
        "run_finished",
        "violation",
    ];
    let missing: Vec<&str> = all.into_iter().filter(|kind| !seen.contains(*kind)).collect();
    assert!(missing.is_empty(), "these were not tried: {missing:?}");
}

#[tokio::test]
async fn a_line_of_another_form_does_not_fit_the_schema() {
    let validator = jsonschema::validator_for(&serde_json::from_str(&printed("events").await).unwrap()).unwrap();
    let event = |kind: &str, data: Value| json!({ "type": kind, "data": data, "seq": 1, "at": "2026-01-01T00:00:00Z" });
    assert!(validator.is_valid(&event("run_finished", json!({ "outcome": "done" }))));
    for wrong in [
        event("run_finished", json!({ "outcome": "perhaps" })),
        event("run_finnished", json!({ "outcome": "done" })),
        event("text_delta", json!({ "text": "x" })),
        json!({ "type": "run_finished", "data": { "outcome": "done" } }),
    ] {
        assert!(!validator.is_valid(&wrong), "{wrong}");
    }
}
