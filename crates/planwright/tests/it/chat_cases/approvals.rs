//! Leaving plan mode: who may, under which approval, and what the approved plan is.

use super::scenarios;
use super::seen::Seen;
use super::stage::{OWN_PLAN, Stage, approve, claim, newest, pending, rests, say};
use planwright_testkit::guard::CaseDecision;
use planwright_testkit::server::{ChatClient, of_type};
use reqwest::{Client, StatusCode};
use serde_json::{Value, json};
use std::sync::Arc;

scenarios! {
    "AP-001" => the_model_leaves,
    "AP-002" => the_model_leaves_with_another_plan_than_the_approved,
    "AP-004" => another_chat_has_the_approval,
    "AP-006" => an_approval_is_used_twice,
    "AP-007" => the_model_leaves,
    "AP-008" => the_model_leaves,
    "AP-011" => the_model_leaves,
    "AP-012" => the_model_leaves,
    "AP-013" => the_model_leaves,
    "AP-016" => an_approval_can_not_be_stored,
    "AP-017" => nobody_is_there_to_answer,
    "AP-018" => everything_is_allowed_by_settings,
    "AP-019" => tools_are_allowed_by_settings,
    "AP-020" => tools_are_allowed_by_settings,
    "AP-021" => the_model_claims_an_approval,
    "AP-023" => the_model_has_the_user_approve_something_else,
    "AP-025" => the_agent_calls_the_api,
    "AP-026" => a_command_calls_the_api,
    "AP-027" => the_approval_comes_after_a_stop,
    "PO-008" => the_plan_changes_after_its_approval,
    "PO-010" => the_plan_is_huge,
}

const LEAVE: &str = r#"{"plan_file_path": "/plans/roadmap.plan"}"#;

/// The model makes the case's call each time it is asked, up to so many times, and works when it may.
fn script(stage: &Stage, times: usize) -> Value {
    let mut plan = vec![json!({ "calls": [stage.call()] }); times];
    plan.push(json!({ "text": "As you like." }));
    json!({ "plan": plan, "act": [{ "text": "Done." }, { "text": "Done." }, { "text": "Done." }] })
}

/// Has the model make the case's call now, and examines the outcome.
async fn called(stage: &Stage, chat: &ChatClient<'_>) -> Seen {
    stage.begin();
    Seen::last_call(chat, say(chat, "Go on with it").await).await
}

async fn the_model_leaves(stage: Arc<Stage>) -> Seen {
    let call = json!({ "calls": [stage.call()] });
    stage.home.write_script(&json!({ "turns": [call, { "text": "As you like." }] }));
    let server = stage.serve().await;
    called(&stage, &stage.chat(&server).await).await
}

async fn the_model_leaves_with_another_plan_than_the_approved(stage: Arc<Stage>) -> Seen {
    std::fs::write(stage.fixture.path("plans/x.plan"), "# Another\n- [ ] one\n").unwrap();
    stage.home.write_script(&script(&stage, 1));
    let server = stage.serve().await;
    let chat = stage.chat(&server).await;
    approve(&chat, OWN_PLAN).await;
    called(&stage, &chat).await
}

async fn another_chat_has_the_approval(stage: Arc<Stage>) -> Seen {
    stage.home.write_script(&script(&stage, 1));
    let server = stage.serve().await;
    let chat = stage.chat(&server).await;
    approve(&server.chat(json!({})).await, OWN_PLAN).await;
    called(&stage, &chat).await
}

async fn an_approval_is_used_twice(stage: Arc<Stage>) -> Seen {
    stage.home.write_script(&script(&stage, 2));
    let server = stage.serve().await;
    let chat = stage.chat(&server).await;
    let asking = say(&chat, "Leave").await;
    assert_eq!(of_type(&asking, "question_pending")[0]["kind"], "plan_approval");
    let after = newest(&chat).await;
    assert_eq!(chat.answer(&pending(&chat).await, json!({ "approve": true })).await.0, StatusCode::ACCEPTED);
    chat.run_to_end(after).await;
    assert_eq!(chat.show().await["config"]["mode"], "build", "an approval opens the way once");
    assert_eq!(chat.patch(json!({ "mode": "plan" })).await.0, StatusCode::OK);
    called(&stage, &chat).await
}

async fn an_approval_can_not_be_stored(stage: Arc<Stage>) -> Seen {
    stage.home.write_script(&script(&stage, 1));
    let server = stage.serve().await;
    let chat = stage.chat(&server).await;
    say(&chat, "Leave").await;
    stage.begin();
    stage.tamper("create trigger broken before insert on approvals begin select raise(abort, 'no room'); end").await;
    let question = pending(&chat).await;
    let refused = chat.answer(&question, json!({ "approve": true })).await;
    let seen = Seen::answer(&refused).in_chat(&chat).await;
    assert_eq!(pending(&chat).await, question, "the card still waits");
    stage.tamper("drop trigger broken").await;
    assert_eq!(chat.answer(&question, json!({ "approve": true })).await.0, StatusCode::ACCEPTED, "and can be answered later");
    seen
}

async fn nobody_is_there_to_answer(stage: Arc<Stage>) -> Seen {
    stage.home.write_script(&script(&stage, 1));
    let workspace = stage.fixture.workspace();
    std::fs::create_dir_all(workspace.join(".planwright/chats")).unwrap();
    std::fs::write(workspace.join(".planwright/.gitignore"), "/chats/\n").unwrap();
    stage.begin();
    let args = ["run", "Leave", "--json", "--yes", "--workspace", workspace.to_str().unwrap()];
    let output = stage.home.command(&args).output().await.unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap();
    let events: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let server = stage.serve().await;
    let workspaces = server.get("/workspaces").await;
    let chats = format!("/workspaces/{}/chats", workspaces[0]["id"].as_str().unwrap());
    let id = server.get(&chats).await[0]["id"].as_str().unwrap().to_owned();
    Seen::last_call(&server.reopened(&format!("{chats}/{id}")), events).await
}

async fn everything_is_allowed_by_settings(stage: Arc<Stage>) -> Seen {
    stage.home.put_config(
        "[chat]\ndefault_mode = \"act\"\n[approvals]\ndelete = \"allow\"\noutside_plan = \"allow\"\nexecute = \"allow\"\nmcp = \"allow\"\n",
    );
    stage.home.write_script(&script(&stage, 1));
    let server = stage.serve().await;
    let chat = server.chat(json!({})).await;
    claim(&chat, OWN_PLAN).await;
    assert_eq!(chat.show().await["config"]["agent_mode"], "act");
    assert_eq!(chat.patch(json!({ "mode": "plan" })).await.0, StatusCode::OK);
    called(&stage, &chat).await
}

async fn tools_are_allowed_by_settings(stage: Arc<Stage>) -> Seen {
    let tools = stage.step("setting").unwrap()["always_allow"].as_array().unwrap();
    let lines: Vec<String> = tools.iter().map(|tool| format!("{} = \"allow\"", tool.as_str().unwrap())).collect();
    stage.home.put_config(&format!("[approvals.tools]\n{}\n", lines.join("\n")));
    the_model_leaves(stage).await
}

async fn the_model_claims_an_approval(stage: Arc<Stage>) -> Seen {
    let write = json!({ "tool": "write", "args": { "path": "/src/main.rs", "content": "PWN\n" } });
    let claim = stage.case.args["text"].clone();
    stage.home.write_script(&json!({ "turns": [{ "text": claim }, { "text": claim, "calls": [write] }, { "text": "go ahead" }] }));
    let server = stage.serve().await;
    let chat = stage.chat(&server).await;
    stage.begin();
    say(&chat, "What about the plan?").await;
    Seen::last_call(&chat, say(&chat, "And now?").await).await
}

async fn the_model_has_the_user_approve_something_else(stage: Arc<Stage>) -> Seen {
    let ask = json!({ "tool": "ask_user", "args": { "questions": stage.step("ask_user").unwrap()["questions"] } });
    let leave = json!({ "tool": "exit_plan_mode", "args": LEAVE });
    stage.home.write_script(&json!({ "turns": [{ "calls": [ask] }, { "calls": [leave] }, { "text": "As you like." }] }));
    let server = stage.serve().await;
    let with_plan = stage.chat(&server).await;
    let card = of_type(&say(&with_plan, "Ask").await, "question_pending")[0].clone();
    assert_eq!((&card["kind"], &card["plan"]["plan_file"]), (&json!("plan_approval"), &json!(OWN_PLAN)), "{card}");
    assert!(card["plan"]["sha256"].is_string() && card["questions"][0]["context"] == "Is the sky blue?", "{card}");
    let (status, _) = with_plan.server.request(reqwest::Method::DELETE, &with_plan.path, None).await;
    assert_eq!(status, StatusCode::NO_CONTENT);

    let chat = server.chat(json!({ "agent_role": stage.case.role })).await;
    let asked = of_type(&say(&chat, "Ask").await, "question_pending")[0].clone();
    assert_eq!(asked["kind"], "user");
    stage.begin();
    let after = newest(&chat).await;
    let answers = stage.step("user_answer").unwrap()["answers"].clone();
    assert_eq!(chat.answer(&asked["question_id"], answers).await.0, StatusCode::ACCEPTED);
    Seen::last_call(&chat, chat.events(after, rests).await).await
}

async fn the_agent_calls_the_api(stage: Arc<Stage>) -> Seen {
    let server = stage.serve().await;
    let chat = stage.chat(&server).await;
    stage.begin();
    let request =
        Client::new().patch(format!("{}/api/v1{}", server.base, chat.path)).bearer_auth(stage.case.args["auth"].as_str().unwrap());
    let response = request.json(&stage.case.args["json"]).send().await.unwrap();
    Seen::answer(&(response.status(), response.json().await.unwrap())).in_chat(&chat).await
}

async fn a_command_calls_the_api(stage: Arc<Stage>) -> Seen {
    let server = stage.serve().await;
    let chat = stage.chat(&server).await;
    let (workspace, id) = chat.path.strip_prefix("/workspaces/").unwrap().split_once("/chats/").unwrap();
    let port = server.base.rsplit(':').next().unwrap();
    let command = stage.case.args["command"].as_str().unwrap().replace("$PORT", port).replace("$W", workspace).replace("$C", id);
    // With the token as well: what keeps it out is that there is no way to the server.
    let command =
        command.replace("curl -s", &format!("curl -s -H 'content-type: application/json' -H 'authorization: Bearer {}'", server.token));
    stage.home.write_script(&json!({ "turns": [{ "calls": [{ "tool": "run", "args": { "command": command } }] }, { "text": "Done." }] }));
    stage.begin();
    let events = say(&chat, "Go").await;
    let code = of_type(&events, "tool_result").last().unwrap()["result"]["exit_code"].clone();
    let seen = Seen::last_call(&chat, events).await.fact("exit_code_not", code);
    let outside = std::process::Command::new("sh").args(["-c", &command]).status().unwrap();
    assert!(outside.success() && chat.show().await["config"]["agent_role"] == "actor", "outside of the sandbox it works");
    seen
}

async fn the_approval_comes_after_a_stop(stage: Arc<Stage>) -> Seen {
    stage.home.write_script(&script(&stage, 2));
    let server = stage.serve().await;
    let chat = stage.chat(&server).await;
    say(&chat, "Leave").await;
    let question = pending(&chat).await;
    assert_eq!(chat.post("stop").await.0, StatusCode::OK);
    let (status, body) = chat.answer(&question, json!({ "approve": true })).await;
    assert_eq!((status, &body["error"]["code"]), (StatusCode::CONFLICT, &json!("QUESTION_NOT_PENDING")));
    called(&stage, &chat).await
}

async fn the_plan_changes_after_its_approval(stage: Arc<Stage>) -> Seen {
    let evil = stage.written["setup"][1]["content"].as_str().unwrap();
    let needle = "EVIL";
    stage.home.write_script(&json!({
        "plan": [{ "text": "Planning." }],
        "act": [
            { "text": "Working.", "told": ["## APPROVED EXECUTION PLAN", "- [ ] one"] },
            { "text": "Still working.", "told": ["## APPROVED EXECUTION PLAN", "- [ ] one"], "not_told": [needle] },
        ],
    }));
    // The tree has the plan as it will be after the approval.
    std::fs::write(stage.fixture.path("plans/roadmap.plan"), "# Plan\n- [ ] one\n- [ ] two\n").unwrap();
    let server = stage.serve().await;
    let chat = stage.chat(&server).await;
    let after = newest(&chat).await;
    assert_eq!(chat.post("execute").await.0, StatusCode::OK);
    chat.run_to_end(after).await;
    std::fs::write(stage.fixture.path("plans/roadmap.plan"), evil).unwrap();
    stage.begin();
    let events = say(&chat, "Go on").await;
    let finished = of_type(&events, "run_finished")[0].clone();
    assert_eq!(finished["outcome"], "done", "{finished}");
    let (status, body) = chat.post("execute").await;
    assert_eq!((status, &body["error"]["code"]), (StatusCode::CONFLICT, &json!("NO_PLAN")), "what nobody has seen is not carried out");
    // The script fails the run if it hears of the change.
    let told = if finished["outcome"] == "done" { "" } else { needle };
    Seen::new(CaseDecision::Allow, None, &Value::Null).with_events(events).in_chat(&chat).await.fact("system_prompt_lacks", told)
}

async fn the_plan_is_huge(stage: Arc<Stage>) -> Seen {
    let size = stage.written["setup"][0]["size"].as_u64().unwrap();
    let line = "- [ ] another step of a plan that has no end\n";
    let steps = line.repeat(usize::try_from(size).unwrap() / line.len());
    std::fs::write(stage.fixture.path("plans/big.plan"), format!("# Big\n\n## Steps\n\n{steps}")).unwrap();
    the_model_leaves(stage).await
}
