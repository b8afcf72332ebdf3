//! Each screen at two sizes. `UPDATE_GOLDEN=1` writes the pictures anew.

use crate::fixtures::{Stage, chat_view, plan};
use crossterm::event::KeyCode;
use planwright_tui::request::AppReport;
use serde_json::json;
use std::path::Path;

const SIZES: [(u16, u16); 2] = [(80, 24), (120, 40)];

#[expect(clippy::disallowed_methods, reason = "golden files of this test")]
fn check(name: &str, stage: &Stage) {
    for (width, height) in SIZES {
        let picture = stage.picture(width, height).join("\n") + "\n";
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}-{width}x{height}.txt"));
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&file, &picture).unwrap();
        }
        let golden = std::fs::read_to_string(&file).unwrap_or_default();
        assert_eq!(picture, golden, "{}", file.display());
    }
}

/// A chat in plan mode with all kinds of rows.
fn conversation() -> Stage {
    let mut stage = Stage::chat("planner");
    stage.message("user", "text", "Add a farewell to the greeter. 请用中文和英文。", json!({}));
    for path in ["/src/main.rs", "/src/lib.rs", "/README.md"] {
        stage.call("read", json!({ "path": path }), Ok("fn main() {}"));
    }
    stage.call("grep", json!({ "pattern": "greet" }), Ok("src/lib.rs:1"));
    stage.call("read", json!({ "path": "/none" }), Err("There is no /none."));
    stage.message(
        "assistant",
        "text",
        "The greeter has **one** function:\n\n```rust\npub fn greet(name: &str) -> String {\n    format!(\"Hello, {name}!\") // 你好\n}\n```\n\n\
         - `main` calls it\n- nothing says goodbye\n\n| language | word |\n|---|---|\n| English | bye |\n| 中文 | 再见 |",
        json!({}),
    );
    stage
}

fn with_plan() -> Stage {
    let mut stage = conversation();
    let metadata = json!({ "plan": plan(3), "plan_file": "/plans/say-goodbye.plan", "revision": 2, "sha256": "abc" });
    stage.message("assistant", "plan", "Say goodbye", metadata);
    stage
}

#[test]
fn a_new_chat_says_what_to_do() {
    check("new-chat", &Stage::empty());
}

#[test]
fn a_missing_model_is_told_with_what_to_do() {
    let mut stage = Stage::empty();
    stage.report(AppReport::Started(Box::new(crate::fixtures::start(&json!(null)))));
    check("no-model", &stage);
}

#[test]
fn a_chat_in_plan_mode_has_its_word_border_and_folded_calls() {
    check("chat-plan", &with_plan());
}

#[test]
fn a_chat_in_build_mode_shows_progress_and_live_output() {
    let mut stage = Stage::chat("actor");
    stage.message("user", "text", "Run the tests.", json!({}));
    stage.event("state_changed", json!({ "state": "executing" }));
    let call_id = stage.id();
    let call = json!({ "call_id": call_id, "tool": "run", "args": { "command": "cargo test" }, "status": "running" });
    stage.message("assistant", "tool_call", "run", call);
    stage.event("tool_output", json!({ "call_id": call_id, "text": "running 2 tests\n\u{1b}[32mtest a ... ok\u{1b}[0m\n" }));
    check("chat-build", &stage);
}

#[test]
fn an_answer_is_shown_while_it_is_written() {
    let mut stage = conversation();
    let message_id = stage.id();
    stage.event("state_changed", json!({ "state": "thinking" }));
    stage.event("text_delta", json!({ "message_id": message_id, "offset": 0, "text": "I will **write" }));
    stage.event("text_delta", json!({ "message_id": message_id, "offset": 14, "text": "** it in `src`" }));
    stage.event("text_delta", json!({ "message_id": message_id, "offset": 20, "text": "in `src` now." }));
    let picture = stage.picture(80, 24).join("\n");
    assert!(picture.contains("I will write it in src now."), "{picture}");
    assert!(picture.contains("Thinking"), "{picture}");
}

#[test]
fn a_deletion_is_an_approval_with_files_effect_and_decisions() {
    let mut stage = Stage::chat("actor");
    stage.message("user", "text", "Tidy up.", json!({}));
    stage.ask_to_delete();
    check("approval-delete", &stage);
    stage.press(KeyCode::Tab);
    stage.press(KeyCode::Char('r'));
    stage.type_text("Keep them for the next release");
    check("approval-reason", &stage);
}

#[test]
fn a_plan_approval_shows_steps_and_two_decisions() {
    let mut stage = with_plan();
    let mut card = plan(3);
    card.as_object_mut()
        .unwrap()
        .extend(json!({ "plan_file": "/plans/say-goodbye.plan", "revision": 2, "sha256": "abc" }).as_object().unwrap().clone());
    let question = json!([{ "name": "approve", "question": "Approve?", "schema": { "type": "boolean" }, "buttons": [
        { "label": "Accept & Build", "value": true }, { "label": "Keep Planning", "value": false } ] }]);
    stage.ask("plan_approval", "major", question, json!({ "plan": card }));
    check("approval-plan", &stage);
}

#[test]
fn a_question_is_a_form_with_a_field_for_every_type() {
    let mut stage = Stage::chat("planner");
    let questions = json!([
        { "name": "sure", "question": "Is this **right**?", "schema": { "type": "boolean" } },
        { "name": "colour", "question": "Which colour?", "schema": { "enum": ["red", "green"] }, "default": "green" },
        { "name": "name", "question": "Your name?", "schema": { "type": "string", "minLength": 2, "description": "As in the README" } },
        { "name": "parts", "question": "Which parts?", "schema": { "type": "array", "items": { "enum": ["one", "two"] } } },
        { "name": "tags", "question": "Tags?", "schema": { "type": "array", "items": { "type": "string" } } },
        { "name": "place", "question": "Where?", "schema": { "type": "object", "properties": { "city": { "type": "string" }, "floor": { "type": "integer" } } } },
        { "name": "free", "question": "Anything else?", "schema": {} },
    ]);
    stage.ask("user", "minor", questions, json!({}));
    stage.press(KeyCode::Tab);
    check("form", &stage);
}

#[test]
fn the_page_of_the_plan_has_steps_comments_and_what_is_executed() {
    let mut stage = with_plan();
    stage.control('p');
    stage.plan_view(4);
    stage.press(KeyCode::Char('c'));
    stage.type_text("In one file, please");
    stage.press(KeyCode::Enter);
    stage.press(KeyCode::Char('j'));
    stage.press(KeyCode::Enter);
    stage.press(KeyCode::Char('j'));
    stage.press(KeyCode::Char('t'));
    check("plan", &stage);
}

#[test]
fn the_page_of_changes_has_files_and_a_diff() {
    let mut stage = Stage::chat("actor");
    stage.control('r');
    let image = json!({ "kind": "absent" });
    let file = |path: &str, status: &str, diff: &str| {
        json!({ "path": path, "status": status, "before": image, "after": image, "diff": diff, "added": 2, "removed": 1, "binary": false,
            "truncated": false, "reverted": false })
    };
    let files = json!([file("/src/farewell.rs", "created", ""), file("/src/计划.rs", "modified", "")]);
    let changes = json!({ "changes": [], "truncated": false, "total": { "files": files, "count": 2 } });
    let changes = serde_json::from_value(changes).unwrap();
    stage.report(AppReport::Changes(Box::new(changes)));
    let mut diff = file(
        "/src/farewell.rs",
        "created",
        "--- /dev/null\n+++ b/src/farewell.rs\n@@ -1,2 +1,3 @@\n fn a() {}\n-old\n+new\n+newer\n@@ -9,1 +10,1 @@\n-x\n+y\n",
    );
    let hunk =
        |number: usize| json!({ "number": number, "numbers": [number], "old_start": 1, "old_lines": 2, "new_start": 1, "new_lines": 3 });
    diff.as_object_mut().unwrap().extend(
        json!({ "before_sha256": null, "after_sha256": "abc", "hunks": [hunk(0), hunk(1)], "changed_since": false })
            .as_object()
            .unwrap()
            .clone(),
    );
    stage.report(AppReport::FileDiff(Box::new(serde_json::from_value(diff).unwrap())));
    stage.press(KeyCode::Char('n'));
    check("changes", &stage);
}

#[test]
fn chats_are_listed_filtered_and_marked() {
    let mut stage = Stage::chat("actor");
    stage.control('o');
    let mut chats = vec![chat_view("actor"), chat_view("planner"), chat_view("reviewer")];
    chats[0]["state"] = json!("executing");
    chats[1]["title"] = json!("");
    chats[2]["title"] = json!("一个很长的标题：检查发布说明");
    chats[2]["state"] = json!("awaiting_answer");
    stage.report(AppReport::Chats(serde_json::from_value(json!(chats)).unwrap()));
    check("chats", &stage);
}

#[test]
fn help_names_the_keys_and_the_commands() {
    let mut stage = Stage::empty();
    stage.press(KeyCode::Char('?'));
    check("help", &stage);
}

#[test]
fn roles_are_chosen_from_a_list() {
    let mut stage = Stage::empty();
    stage.control('t');
    check("roles", &stage);
}

#[test]
fn every_screen_holds_at_every_size() {
    let mut approval = Stage::chat("actor");
    approval.ask_to_delete();
    let mut help = Stage::empty();
    help.press(KeyCode::Char('?'));
    let mut plan = with_plan();
    plan.control('p');
    plan.plan_view(4);
    for stage in [&conversation(), &approval, &help, &plan, &Stage::empty()] {
        for (width, height) in [(1, 1), (10, 3), (39, 30), (40, 10), (41, 11), (80, 10), (200, 12), (300, 100)] {
            assert_eq!(stage.picture(width, height).len(), usize::from(height));
        }
    }
}
