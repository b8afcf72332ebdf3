//! Files order a model to break the rules, and it obeys; calls in an invalid form. More of the
//! first are in `injection.rs`.

use super::scenarios;
use super::seen::Seen;
use super::stage::{Stage, newest, rests, say};
use planwright_testkit::guard::CaseDecision;
use planwright_testkit::server::of_type;
use serde_json::{Value, json};
use std::sync::Arc;

scenarios! {
    "PI-001" => the_model_obeys_what_it_read,
    "PI-003" => the_model_obeys_what_it_read,
    "PI-004" => the_model_obeys_what_it_read,
    "PI-005" => the_model_obeys_what_it_read,
    "PI-006" => the_model_obeys_what_it_read,
    "PI-007" => the_model_obeys_what_it_read,
    "PI-008" => the_model_obeys_what_it_read,
    "PI-009" => the_model_obeys_what_it_read,
    "PI-013" => a_terminal_shows_what_was_read,
    "PI-014" => the_folder_has_settings_of_its_own,
    "PI-017" => the_folder_is_opened_and_worked_in,
    "PI-018" => the_folder_is_opened_and_worked_in,
    "TN-055" => a_call_is_written_as_text,
    "TN-056" => more_calls_at_once_than_anyone_needs,
}

/// The file that the case brings along.
fn carrier(stage: &Stage) -> String {
    stage.written["setup"][0]["path"].as_str().unwrap().to_owned()
}

async fn the_model_obeys_what_it_read(stage: Arc<Stage>) -> Seen {
    let read = json!([
        { "tool": "read", "args": { "path": carrier(&stage) } },
        { "tool": "ls", "args": { "depth": 3 } },
        { "tool": "grep", "args": { "pattern": "TODO|approved|APPROVED" } },
    ]);
    stage.home.write_script(&json!({ "turns": [{ "calls": read }, { "calls": [stage.call()] }, { "text": "As you like." }] }));
    let server = stage.serve().await;
    let chat = stage.chat(&server).await;
    stage.begin();
    Seen::last_call(&chat, say(&chat, "Look around and plan").await).await
}

async fn a_call_is_written_as_text(stage: Arc<Stage>) -> Seen {
    let text = &stage.written["args"]["text"];
    stage.home.write_script(&json!({ "turns": [{ "text": text }] }));
    let server = stage.serve().await;
    let chat = stage.chat(&server).await;
    stage.begin();
    let events = say(&chat, "Begin").await;
    let made = of_type(&events, "tool_call").len() + of_type(&events, "tool_result").len();
    let said = chat.messages().await.iter().any(|message| message["content"] == *text);
    assert!(said, "it is shown as what it is");
    Seen::new(CaseDecision::Deny, None, &Value::Null).with_events(events).fact("tool_executions", made).in_chat(&chat).await
}

async fn more_calls_at_once_than_anyone_needs(stage: Arc<Stage>) -> Seen {
    let repeat = &stage.written["args"]["repeat"];
    let call = json!({ "tool": repeat["tool"], "args": repeat["args"] });
    let times = usize::try_from(repeat["n"].as_u64().unwrap()).unwrap();
    stage.home.write_script(&json!({ "turns": [{ "calls": vec![call; times] }] }));
    let server = stage.serve().await;
    let chat = stage.chat(&server).await;
    stage.begin();
    let begun = server.stopwatch();
    let events = say(&chat, "Begin").await;
    assert!(of_type(&events, "tool_call").is_empty(), "none of them was begun");
    let finished = of_type(&events, "run_finished").last().map(|event| (*event).clone()).unwrap_or_default();
    let code = finished["error"]["code"].as_str();
    Seen::new(CaseDecision::Error, code, &finished).within(begun.elapsed()).in_chat(&chat).await
}

/// The model repeats what the file says, so that it comes to the terminal in both ways.
async fn a_terminal_shows_what_was_read(stage: Arc<Stage>) -> Seen {
    let content = stage.written["setup"][0]["content"].as_str().unwrap();
    stage.home.write_script(&json!({ "turns": [{ "calls": [stage.call()] }, { "text": format!("It says: {content}") }] }));
    stage.begin();
    let workspace = stage.fixture.workspace();
    let arguments = ["run", "Read it", "--role", "reviewer", "--workspace", workspace.to_str().unwrap()];
    let output = stage.home.command(&arguments).output().await.unwrap();
    assert!(output.status.success(), "{output:?}");
    let rendered = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(rendered.contains("It says: "), "{rendered}");
    Seen::new(CaseDecision::Allow, None, &Value::Null).fact("rendered_lacks", rendered)
}

async fn the_folder_is_opened_and_worked_in(stage: Arc<Stage>) -> Seen {
    let calls = json!([{ "tool": "ls", "args": {} }, { "tool": "grep", "args": { "pattern": "main" } }]);
    stage.home.write_script(&json!({ "turns": [{ "calls": calls }, { "text": "Seen." }], "repeat": true }));
    stage.begin();
    let server = stage.serve().await;
    let chat = server.chat(json!({})).await;
    let after = newest(&chat).await;
    chat.say("Look around").await;
    chat.events(after, rests).await;
    server.get(&format!("{}/changes", chat.path)).await;
    Seen::new(CaseDecision::Allow, None, &Value::Null).in_chat(&chat).await
}

/// No model but the configured one was asked, and what it said came back, so no other address was called.
async fn the_folder_has_settings_of_its_own(stage: Arc<Stage>) -> Seen {
    the_folder_is_opened_and_worked_in(stage).await.fact("no_network_to", true)
}
