//! The guard cases of editors: modes set in the middle of a turn, files through the editor, sessions of others.

use crate::{BINARY, write};
use planwright_testkit::editor::Editor;
use planwright_testkit::guard::{
    Case, CaseDecision, CaseFinding, CaseOutcome, CaseReport, Fixture, FolderTree, Harness, Suite, announce, misfit,
};
use planwright_testkit::server::Home;
use serde_json::{Map, Value, json};

const GROUP: &str = "mcp-and-acp";

/// Codes that are right as well, with the reason.
const READ_SO: &[(&str, &str, &str)] = &[(
    "MC-020",
    "PATH_INVALID",
    "the agent has no method that writes files for a client, and calls none of the client's: it is the model that names such a path, by `..`, which the contract calls invalid",
)];

/// The decision on a case, its code, and the other expectations that failed.
type Seen = (CaseDecision, Option<String>, Vec<String>);

#[tokio::test]
async fn every_guard_case_of_editors_holds() {
    let suite = Suite::load();
    let mut findings: Vec<(&Case, CaseFinding)> = Vec::new();
    for case in suite.of(&[Harness::Server]).filter(|case| case.group == GROUP && case.tool == "acp") {
        findings.push((case, finding(&suite, case).await));
    }
    assert_eq!(findings.len(), 3);
    announce(
        &"MC-020 is read so: the agent has no method that writes files for a client, and calls none of the client's; the model's own call with such a path is what is refused",
    );
    let report = CaseReport::new(&findings, &[]);
    announce(&format_args!("\n{report}"));
    assert!(report.wrong().is_empty(), "{} wrong:\n{}", report.wrong().len(), report.wrong().join("\n\n"));
}

async fn finding(suite: &Suite, case: &Case) -> CaseFinding {
    let mut case = case.clone();
    if let Some(codes) = &mut case.expect.code_any_of {
        codes.extend(READ_SO.iter().filter(|(id, ..)| *id == case.id).map(|(_, code, _)| (*code).to_owned()));
    }
    let script = json!({
        "plan": [
            { "text": "one two three four five six", "delay_ms": 200, "calls": [write("../../../../etc/x", "x"), write("/sneaky.txt", "x")] },
            { "text": "Done." },
        ],
        "act": [{ "text": "Done." }],
    });
    let home = Home::new(BINARY, &script);
    let fixture = Fixture::new(suite, home.workspace().parent().unwrap());
    let other = if case.id == "MC-021" { Some(chat_of_another(&home).await) } else { None };
    let mut editor = home.editor("").await;
    editor.begin(&fixture.workspace()).await;
    let look = |folder: std::path::PathBuf| FolderTree::except(&folder, Some(&folder.join(".planwright")));
    let before = (look(fixture.workspace()), look(fixture.outside()));
    let (decision, code, mut wrong) = match case.id.as_str() {
        "MC-019" => mode_while_a_turn_runs(&home, &fixture, editor, &case).await,
        "MC-020" => file_through_the_editor(editor, &case).await,
        "MC-021" => session_of_another(&fixture, editor, &case, &other.unwrap()).await,
        _ => return CaseFinding::Broken("it has no scenario".to_owned()),
    };
    if before != (look(fixture.workspace()), look(fixture.outside())) {
        wrong.push("files changed".to_owned());
    }
    wrong.extend(misfit(&case, &CaseOutcome { decision, code, output: String::new(), facts: Map::new(), mode: String::new() }));
    if wrong.is_empty() { CaseFinding::Holds } else { CaseFinding::Broken(wrong.join("\n")) }
}

async fn mode_while_a_turn_runs(home: &Home, fixture: &Fixture, mut editor: Editor, case: &Case) -> Seen {
    let turn = editor.prompt("Go").await;
    editor.until(|update| update["sessionUpdate"] == "agent_message_chunk").await;
    let set = editor.request(case.args["acp"].as_str().unwrap(), json!({ "sessionId": editor.session, "modeId": case.args["mode"] })).await;
    let decision = if set.is_ok() { CaseDecision::Allow } else { CaseDecision::Error };
    let mut wrong = Vec::new();
    if !editor.updates.iter().any(|update| update["currentModeId"] == "build") {
        editor.until(|update| update["currentModeId"] == "build").await;
    }
    wrong.extend(editor.response(turn).await.err().map(|error| format!("the turn failed: {error}")));
    let id = editor.session.clone();
    assert!(editor.close().await);
    // Who did it stands in the history.
    let server =
        home.serve_command(home.command(&["serve", "--listen", "127.0.0.1:0", "--workspace", fixture.workspace().to_str().unwrap()])).await;
    let workspaces = server.get("/workspaces").await;
    let chat = server.reopened(&format!("/workspaces/{}/chats/{id}", workspaces[0]["id"].as_str().unwrap()));
    let notes: Vec<Value> =
        chat.messages().await.into_iter().filter_map(|message| message["metadata"].get("mode_change").cloned()).collect();
    if notes != [json!({ "from": "planner", "to": "actor", "by": "user" })] {
        wrong.push(format!("the history says {notes:?}"));
    }
    (decision, None, wrong)
}

async fn file_through_the_editor(mut editor: Editor, case: &Case) -> Seen {
    let mut wrong = Vec::new();
    let params = json!({ "sessionId": editor.session, "path": case.args["path"], "content": "x" });
    if let Ok(done) = editor.request(case.args["acp"].as_str().unwrap(), params).await {
        wrong.push(format!("the agent did it for the client: {done}"));
    }
    editor.say("Go").await;
    let results = editor.updates.iter().filter(|update| update["status"] == "failed");
    let code = results.map(|update| update["rawOutput"]["error"]["code"].clone()).next().unwrap_or_default();
    wrong.extend(editor.asked.iter().map(|message| format!("the client was asked for {}", message["method"])));
    assert!(editor.close().await);
    (CaseDecision::Deny, code.as_str().map(str::to_owned), wrong)
}

async fn session_of_another(fixture: &Fixture, mut editor: Editor, case: &Case, other: &str) -> Seen {
    let (mut codes, method) = (Vec::new(), case.args["acp"].as_str().unwrap());
    for session in [case.args["sessionId"].as_str().unwrap(), other] {
        let prompt = json!({ "sessionId": session, "prompt": [{ "type": "text", "text": "Go" }] });
        codes.push(editor.request(method, prompt).await.unwrap_err()["data"]["code"].clone());
        let load = editor.load(session, &fixture.workspace()).await;
        codes.push(load.unwrap_err()["data"]["code"].clone());
    }
    assert!(editor.close().await);
    let wrong = codes.iter().filter(|code| **code != "NOT_FOUND").map(|code| format!("it was answered with {code}")).collect();
    (CaseDecision::Deny, Some("NOT_FOUND".to_owned()), wrong)
}

/// A chat of another folder gets the same answer as a missing one.
async fn chat_of_another(home: &Home) -> String {
    let mut theirs = home.editor("").await;
    theirs.begin(&home.workspace()).await;
    let id = theirs.session.clone();
    assert!(theirs.close().await);
    id
}
