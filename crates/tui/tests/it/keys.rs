//! What keys lead to, as commands to the loop.

use crate::fixtures::{Stage, chat_id, workspace_id};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use planwright_protocol::{ErrorCode, Problem, Role};
use planwright_tui::app::{AppInput, Focus, PageName};
use planwright_tui::overlay::Overlay;
use planwright_tui::request::{AppCommand, AppReport, ChatChange, ChatPlace, EditPurpose, ServerRequest};
use serde_json::{Value, json};

fn change(commands: Vec<AppCommand>) -> ChatChange {
    match commands.as_slice() {
        [AppCommand::Ask(ServerRequest::Change { change, .. })] => (**change).clone(),
        other => panic!("{other:?}"),
    }
}

fn alt(stage: &mut Stage, letter: char) -> Vec<AppCommand> {
    stage.app.update(AppInput::Key(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::ALT)))
}

#[test]
fn the_first_message_begins_a_chat_in_the_chosen_role() {
    let mut stage = Stage::empty();
    stage.press(KeyCode::BackTab);
    assert_eq!(stage.app.role(), Role::Actor);
    stage.type_text("Go");
    let commands = stage.press(KeyCode::Enter);
    assert!(
        matches!(commands.as_slice(), [AppCommand::Ask(ServerRequest::Start { role: Some(Role::Actor), content })] if content == "Go"),
        "{commands:?}"
    );
}

#[test]
fn a_deletion_is_denied_with_a_reason() {
    let mut stage = Stage::chat("actor");
    stage.ask_to_delete();
    stage.press(KeyCode::Tab);
    assert_eq!(stage.app.focus, Focus::Dock);
    stage.press(KeyCode::Char('r'));
    assert!(stage.press(KeyCode::Enter).is_empty(), "a reason is required");
    stage.type_text("Keep them");
    let ChatChange::Answer { answers, comment, .. } = change(stage.press(KeyCode::Enter)) else { panic!() };
    assert_eq!((Value::Object(answers), comment.as_str()), (json!({ "decision": "deny" }), "Keep them"));
    assert!(stage.press(KeyCode::Enter).is_empty(), "sent once");
    stage.event("question_resolved", json!({ "question_id": stage.app.dock.as_ref().unwrap().pending.question_id, "outcome": "answered" }));
    assert!(stage.app.dock.is_none() && stage.app.focus == Focus::Composer);
}

#[test]
fn always_names_its_scope_and_alt_decides_from_anywhere() {
    let mut stage = Stage::chat("actor");
    stage.ask_to_delete();
    let hint = &stage.app.dock.as_ref().unwrap().actions[3].hint;
    assert_eq!(hint, "rm in /src, for the rest of this chat");
    let ChatChange::Answer { answers, .. } = change(alt(&mut stage, 'w')) else { panic!() };
    assert_eq!(Value::Object(answers), json!({ "decision": "approve_always" }));
}

#[test]
fn an_answer_that_the_server_refuses_stays_with_its_error() {
    let mut stage = Stage::chat("planner");
    stage.ask(
        "user",
        "minor",
        json!([{ "name": "name", "question": "Name?", "schema": { "type": "string", "pattern": "^A" } }]),
        json!({}),
    );
    stage.press(KeyCode::Tab);
    stage.type_text("Bob");
    let commands = stage.control('s');
    let [AppCommand::Ask(request)] = commands.as_slice() else { panic!("{commands:?}") };
    let problem = Problem::new(ErrorCode::ValidationFailed, "The answer doesn't fit.")
        .with_details(json!({ "fields": { "name": "must begin with A" } }));
    stage.report(AppReport::Failed { request: Box::new(request.clone()), problem });
    let picture = stage.picture(80, 24).join("\n");
    assert!(picture.contains("must begin with A") && picture.contains("Bob"), "{picture}");
}

#[test]
fn switching_to_plan_during_work_asks_first() {
    let mut stage = Stage::chat("actor");
    stage.event("state_changed", json!({ "state": "executing" }));
    assert!(stage.press(KeyCode::BackTab).is_empty());
    assert!(matches!(stage.app.overlay, Some(Overlay::Confirm(_))));
    let ChatChange::Update(update) = change(stage.press(KeyCode::Char('y'))) else { panic!() };
    assert_eq!((update.agent_role.as_deref(), update.confirm), (Some("planner"), true));
}

#[test]
fn ctrl_c_stops_the_run_then_clears_then_leaves() {
    let mut stage = Stage::chat("actor");
    stage.event("state_changed", json!({ "state": "executing" }));
    assert!(matches!(change(stage.control('c')), ChatChange::Stop));
    stage.event("state_changed", json!({ "state": "idle" }));
    stage.type_text("draft");
    assert!(stage.control('c').is_empty() && stage.app.composer.field.is_empty());
    assert!(matches!(stage.control('c').as_slice(), [AppCommand::Quit]));
}

#[test]
fn leaving_during_work_asks_whether_to_stop_or_to_keep_it_running() {
    let mut stage = Stage::chat("actor");
    stage.event("state_changed", json!({ "state": "thinking" }));
    assert!(stage.control('d').is_empty());
    assert!(matches!(stage.press(KeyCode::Char('k')).as_slice(), [AppCommand::Quit]));
    stage.control('d');
    let stop = stage.press(KeyCode::Char('s'));
    assert!(matches!(change(stop), ChatChange::Stop));
    let place = ChatPlace { workspace: workspace_id(), chat: chat_id() };
    let left = stage.report(AppReport::Done { place, change: Box::new(ChatChange::Stop) });
    assert!(matches!(left.as_slice(), [AppCommand::Quit]), "leaves when the stop is answered");
}

#[test]
fn taking_back_from_a_row_shows_what_it_would_do_first() {
    let mut stage = Stage::chat("actor");
    stage.message("user", "text", "Write it.", json!({}));
    stage.press(KeyCode::Tab);
    let commands = stage.press(KeyCode::Char('z'));
    let [AppCommand::Ask(ServerRequest::Revert { body, .. })] = commands.as_slice() else { panic!("{commands:?}") };
    assert!(body.preview && body.message_id.is_some());
    let image = json!({ "kind": "absent" });
    let answer = json!({ "preview": true, "files": [{ "path": "/a.rs", "present": image, "wanted": image }], "file_count": 1, "conflicts": [],
        "conflict_count": 0, "truncated": false, "message": null });
    let answer = serde_json::from_value(answer).unwrap();
    stage.report(AppReport::Reverted { body: body.clone(), answer: Box::new(answer) });
    let picture = stage.picture(80, 24).join("\n");
    assert!(picture.contains("Take back the changes of 1 file?") && picture.contains("/a.rs"), "{picture}");
    let commands = stage.press(KeyCode::Char('y'));
    let [AppCommand::Ask(ServerRequest::Revert { body, .. })] = commands.as_slice() else { panic!("{commands:?}") };
    assert!(!body.preview);
}

#[test]
fn commands_with_a_slash_do_what_they_say() {
    let mut stage = Stage::chat("planner");
    let run = |stage: &mut Stage, text: &str| {
        stage.app.composer.field.set(text);
        stage.press(KeyCode::Enter)
    };
    assert!(
        matches!(change(run(&mut stage, "/rename Farewells")), ChatChange::Update(update) if update.title.as_deref() == Some("Farewells"))
    );
    assert!(
        matches!(change(run(&mut stage, "/role tester")), ChatChange::Update(update) if update.agent_role.as_deref() == Some("tester"))
    );
    assert!(matches!(change(run(&mut stage, "/execute")), ChatChange::Execute(_)));
    assert!(matches!(change(run(&mut stage, "/compact")), ChatChange::Compact));
    assert!(matches!(run(&mut stage, "/search bye").as_slice(), [AppCommand::Ask(ServerRequest::Search(query))] if query == "bye"));
    stage.press(KeyCode::Esc);
    assert!(matches!(run(&mut stage, "/inbox").as_slice(), [AppCommand::Ask(ServerRequest::Inbox)]));
    stage.press(KeyCode::Esc);
    assert_eq!(stage.app.page, PageName::Chat);
    run(&mut stage, "/delete");
    assert!(matches!(change(stage.press(KeyCode::Char('y'))), ChatChange::Delete));
    assert!(run(&mut stage, "/nonsense").is_empty());
    assert_eq!(stage.app.composer.field.shown(), "/nonsense", "a mistyped command is kept");
    assert!(matches!(change(run(&mut stage, "/src/lib.rs is broken")), ChatChange::Send { .. }), "a path is a message");
}

#[test]
fn the_editor_gets_the_message_and_gives_it_back() {
    let mut stage = Stage::chat("planner");
    stage.type_text("draft");
    let commands = stage.control('x');
    assert!(matches!(commands.as_slice(), [AppCommand::Edit { purpose: EditPurpose::Message, text }] if text == "draft"));
    stage.report(AppReport::Edited { purpose: EditPurpose::Message, text: Ok("long\ntext\n".to_owned()) });
    assert_eq!(stage.app.composer.field.shown(), "long\ntext");
}

#[test]
fn a_large_paste_is_one_word_and_is_sent_whole() {
    let mut stage = Stage::chat("planner");
    let long = "line\n".repeat(2000);
    stage.app.update(AppInput::Paste(long.clone()));
    assert!(stage.picture(80, 24).join("\n").contains("[pasted 1: 2000 lines"));
    let ChatChange::Send { content, .. } = change(stage.press(KeyCode::Enter)) else { panic!() };
    assert_eq!(content, long);
}

#[test]
fn a_reset_loads_the_chat_anew_and_old_numbers_change_nothing() {
    let mut stage = Stage::chat("planner");
    let commands = stage.event("reset", json!({}));
    assert!(matches!(commands.as_slice(), [AppCommand::Ask(ServerRequest::Open(_))]));
    let message_id = stage.id();
    stage.event("text_delta", json!({ "message_id": message_id, "offset": 0, "text": "abc" }));
    stage.event("text_delta", json!({ "message_id": message_id, "offset": 1, "text": "bcd" }));
    assert_eq!(stage.app.chat.as_ref().unwrap().partial.as_ref().unwrap().text, "abcd", "deltas are placed by their offset");
}
