//! A plan while it is carried out: its boxes tell what is done, and done is what the server saw.

use crate::{home, write};
use planwright_testkit::server::{ChatClient, Home, last_id, of_type};
use serde_json::{Value, json};

pub const FILE: &str = "plans/say-goodbye.plan";

/// Two steps, the second with a check.
pub fn plan() -> Value {
    json!({
        "goal": "Say goodbye",
        "steps": [
            { "step_number": 1, "action": "Write the file", "reason": "It is asked for", "tools_needed": ["write"], "files": ["bye.txt"] },
            { "step_number": 2, "action": "Check it", "reason": "To be sure", "tools_needed": ["run"], "files": ["bye.txt", "log.txt"], "verify": "echo checking; grep -q Goodbye bye.txt" },
        ],
    })
}

pub fn step(number: u32, status: &str) -> Value {
    json!({ "tool": "update_step", "args": { "step_number": number, "status": status } })
}

pub fn turn(calls: &[Value]) -> Value {
    json!({ "calls": calls })
}

/// A home in whose script the plan is written, and then these turns are played.
pub fn home_of(plan: &Value, act: &[Value]) -> Home {
    let act: Vec<Value> = act.iter().cloned().chain([json!({ "text": "Done." })]).collect();
    home(&json!({ "plan": [{ "calls": [{ "tool": "write_plan", "args": plan }] }, { "text": "Ready." }], "act": act }))
}

/// Planned and approved; gives the number of the last event before the approval.
pub async fn approved(chat: &ChatClient<'_>) -> u64 {
    chat.say("Plan it").await;
    let planned = last_id(&chat.run_to_end(0).await);
    let (status, body) = chat.post("execute").await;
    assert!(status.is_success(), "{body}");
    planned
}

pub fn steps(events: &[Value]) -> Vec<(u64, &str)> {
    of_type(events, "plan_step").iter().map(|step| (step["step_number"].as_u64().unwrap(), step["status"].as_str().unwrap())).collect()
}

#[tokio::test]
async fn boxes_are_ticked_in_the_file_and_told_of_until_the_plan_is_complete() {
    let home = home_of(
        &plan(),
        &[
            turn(&[step(1, "in_progress"), write("/bye.txt", "Goodbye\n"), step(1, "done"), step(1, "done")]),
            turn(&[step(2, "in_progress")]),
            turn(&[step(2, "done")]),
        ],
    );
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    let planned = approved(&chat).await;
    let events = chat.run_to_end(planned).await;
    assert_eq!(steps(&events), [(1, "in_progress"), (1, "done"), (2, "in_progress"), (2, "done")]);
    let updated = of_type(&events, "plan_updated");
    assert_eq!(updated[1]["plan"]["steps"][0]["status"], "done");
    assert_eq!(updated[1]["plan_file"], "/plans/say-goodbye.plan");
    let results = of_type(&events, "tool_result");
    assert!(results.iter().all(|result| result["success"] == true), "{results:#?}");
    assert!(results[2]["result"]["output"].as_str().unwrap().contains("Next is step 2: Check it"), "{results:#?}");
    let last = &results.last().unwrap()["result"];
    assert_eq!((&last["check"]["exit_code"], &last["open_steps"]), (&json!(0), &json!([])));
    assert_eq!(of_type(&events, "run_finished"), [&json!({ "outcome": "done" })], "nothing is open");

    let file = home.file(FILE).unwrap();
    assert!(file.contains("- [x] 1. Write the file") && file.contains("- [x] 2. Check it") && file.contains("\nstatus: done\n"), "{file}");
    let progress = &chat.show().await["progress"];
    assert_eq!((&progress["done"], &progress["total"], &progress["steps"][1]["status"]), (&json!(2), &json!(2), &json!("done")));
}

#[tokio::test]
async fn a_step_is_done_only_when_the_server_saw_its_check_succeed() {
    let home =
        home_of(&plan(), &[turn(&[step(2, "done")]), turn(&[write("/bye.txt", "Goodbye\n"), step(2, "done")]), turn(&[step(2, "done")])]);
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    let planned = approved(&chat).await;
    let failed = chat.events(planned, |event| event["type"] == "tool_result").await;
    let error = &of_type(&failed, "tool_result")[0]["error"];
    assert_eq!(error["code"], "VERIFY_FAILED");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("Step 2 is not done") && message.contains("exit code 2") && message.contains("No such file"), "{message}");
    let events = chat.run_to_end(planned).await;
    assert_eq!(steps(&events), [(2, "in_progress"), (2, "done")], "{events:#?}");
    assert_eq!(of_type(&events, "run_finished"), [&json!({ "outcome": "done", "open_steps": [1] })], "step 1 was never reported");
    let live: String = of_type(&events, "tool_output").iter().map(|event| event["text"].as_str().unwrap()).collect();
    assert!(live.contains("checking\n"), "a check is heard like any command: {live:?}");
    assert!(home.file(FILE).unwrap().contains("\nstatus: in_progress\n"));
}

#[tokio::test]
async fn what_a_check_changes_outside_the_plan_is_asked_about_and_taken_back_it_checked_nothing() {
    let mut plan = plan();
    plan["steps"][1]["verify"] = json!("echo x > other.txt");
    for (decision, status, other) in [("approve", "done", Some("x\n")), ("deny", "in_progress", None)] {
        let home = home_of(&plan, &[turn(&[step(2, "done")])]);
        let server = home.serve().await;
        let chat = server.chat(json!({})).await;
        let planned = approved(&chat).await;
        let asking = chat.events(planned, |event| event["data"]["state"] == "awaiting_answer").await;
        let question = of_type(&asking, "question_pending")[0].clone();
        assert_eq!(question["call"]["moment"], "after", "{question}");
        assert_eq!(home.file("other.txt"), None);
        chat.answer(&question["question_id"], json!({ "decision": decision })).await;
        let events = chat.run_to_end(last_id(&asking)).await;
        assert_eq!(steps(&events), [(2, status)]);
        assert_eq!(home.file("other.txt").as_deref(), other);
        assert_eq!(of_type(&events, "tool_result")[0]["success"], decision == "approve");
    }
}

#[tokio::test]
async fn a_check_asks_first_where_commands_are_set_to_ask() {
    let home = home_of(&plan(), &[turn(&[write("/bye.txt", "Goodbye\n"), step(2, "done")])]);
    home.put_config("[approvals]\nexecute = \"ask\"\n");
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    let planned = approved(&chat).await;
    let asking = chat.events(planned, |event| event["data"]["state"] == "awaiting_answer").await;
    let question = of_type(&asking, "question_pending")[0].clone();
    assert!(question.to_string().contains("grep -q Goodbye bye.txt"), "the user sees what would be run: {question}");
    chat.answer(&question["question_id"], json!({ "decision": "approve" })).await;
    assert_eq!(steps(&chat.run_to_end(last_id(&asking)).await), [(2, "done")]);
}

#[tokio::test]
async fn a_step_that_is_not_there_and_a_chat_without_a_plan_are_told_what_there_is() {
    let home = home_of(&plan(), &[turn(&[step(7, "done")])]);
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    let planned = approved(&chat).await;
    let events = chat.run_to_end(planned).await;
    let error = &of_type(&events, "tool_result")[0]["error"];
    assert_eq!(error["code"], "INVALID_ARGUMENTS");
    assert!(error["message"].as_str().unwrap().contains("1, 2"), "{error}");

    let without = server.chat(json!({ "agent_role": "actor" })).await;
    without.say("Go").await;
    let events = without.run_to_end(0).await;
    assert_eq!(of_type(&events, "tool_result")[0]["error"]["code"], "PLAN_NOT_APPROVED");
    assert!(steps(&events).is_empty());
}

#[tokio::test]
async fn progress_makes_no_approval_stale_and_goes_on_when_the_plan_is_executed_again() {
    let home = home_of(&plan(), &[turn(&[step(1, "done")])]);
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    let planned = approved(&chat).await;
    let first = chat.run_to_end(planned).await;
    assert!(home.file(FILE).unwrap().contains("- [x] 1."));
    chat.patch(json!({ "mode": "plan" })).await;
    let (status, body) = chat.post("execute").await;
    assert!(status.is_success(), "the same plan, further on, needs no new look: {body}");
    assert_eq!(body["progress"]["done"], 1);
    chat.events(last_id(&first), |event| event["type"] == "run_finished").await;
    assert!(home.file(FILE).unwrap().contains("- [x] 1."));
}

#[tokio::test]
async fn approval_and_the_first_step_are_written_into_the_plans_file() {
    let look = json!({ "tool": "read", "args": { "path": format!("/{FILE}") } });
    let home = home_of(&plan(), &[turn(&[look.clone(), step(1, "in_progress"), look.clone()])]);
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    // As a server leaves it that was killed while it wrote there.
    home.put("plans/.planwright-0123456789abcdef-00000000.tmp", "- [~");
    let planned = approved(&chat).await;
    let events = chat.run_to_end(planned).await;
    let plans = std::fs::read_dir(home.workspace().join("plans")).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(plans.collect::<Vec<_>>(), ["say-goodbye.plan"], "what was left half written is gone");
    let texts: Vec<String> = of_type(&events, "tool_result").iter().map(|result| result["result"]["output"].to_string()).collect();
    assert!(texts[0].contains("status: approved") && texts[0].contains("- [ ] 1."), "{}", texts[0]);
    assert!(texts[2].contains("status: in_progress") && texts[2].contains("- [~] 1."), "{}", texts[2]);
}

#[tokio::test]
async fn a_check_that_is_stopped_or_runs_in_a_role_that_was_left_moves_no_step() {
    let mut plan = plan();
    plan["steps"][1]["verify"] = json!("echo begun; sleep 60");
    for switch in [None, Some(json!({ "agent_role": "tester" })), Some(json!({ "mode": "plan", "confirm": true }))] {
        let home = home_of(&plan, &[turn(&[step(2, "done")])]);
        let server = home.serve().await;
        let chat = server.chat(json!({})).await;
        let planned = approved(&chat).await;
        chat.events(planned, |event| event["type"] == "tool_output").await;
        match &switch {
            Some(body) => assert!(chat.patch(body.clone()).await.0.is_success()),
            None => assert!(chat.post("stop").await.0.is_success()),
        }
        let events = chat.run_to_end(planned).await;
        assert_eq!(steps(&events), [], "{switch:?}");
        let code = &of_type(&events, "tool_result")[0]["error"]["code"];
        assert!(code == "CANCELLED" || code == "MODE_CHANGED", "{switch:?}: {code}");
        assert_eq!(chat.show().await["progress"]["steps"][1]["status"], "pending");
        assert!(home.file(FILE).unwrap().contains("- [ ] 2. "));
    }
}

#[tokio::test]
async fn a_plan_that_is_carried_out_headless_shows_its_steps_and_names_the_open_ones() {
    let home = home_of(&plan(), &[turn(&[write("/bye.txt", "Goodbye\n"), step(1, "done")])]);
    let planned = home.command(&["run", "Say goodbye"]).output().await.unwrap();
    let shown = String::from_utf8_lossy(&planned.stdout).into_owned();
    assert!(planned.status.success() && shown.contains("check: echo checking; grep -q Goodbye bye.txt"), "{shown}");
    let done = home.command(&["run", "Go", "--mode", "act", "--plan", FILE]).output().await.unwrap();
    let (out, err) = (String::from_utf8_lossy(&done.stdout).into_owned(), String::from_utf8_lossy(&done.stderr).into_owned());
    assert_eq!(done.status.code(), Some(0), "{err}");
    assert!(!out.contains("Plan:"), "{out}");
    assert!(err.contains("= step 1: done") && err.contains("still open: 2") && !err.contains("Execute it"), "{err}");
    assert!(home.file(FILE).unwrap().contains("- [x] 1. "), "also a plan that another chat wrote, once the user names it");
}

#[tokio::test]
async fn the_summary_of_changes_names_the_step_that_was_in_progress() {
    let home = home_of(
        &plan(),
        &[
            turn(&[write("/before.txt", "x\n")]),
            turn(&[step(1, "in_progress"), write("/bye.txt", "Hello\n"), step(1, "done")]),
            turn(&[step(2, "in_progress"), step(2, "done"), write("/log.txt", "checked\n")]),
            turn(&[write("/bye.txt", "Goodbye\n"), step(2, "done")]),
        ],
    );
    home.put("before.txt", "y\n");
    let server = home.serve_with(&[]).await;
    let chat = server.chat(json!({})).await;
    let planned = approved(&chat).await;
    let waits = |event: &Value| event["type"] == "question_pending" || event["type"] == "run_finished";
    let events = chat.events(planned, waits).await;
    if let Some(card) = of_type(&events, "question_pending").first() {
        let (status, body) = chat.answer(&card["question_id"], json!({ "decision": "approve" })).await;
        assert!(status.is_success(), "{body}");
        chat.run_to_end(last_id(&events)).await;
    }
    let summary = server.get(&format!("{}/changes?summary=true", chat.path)).await;
    let files = summary["total"]["files"].as_array().unwrap();
    let step_of = |path: &str| files.iter().find(|file| file["path"] == path).map(|file| file["step"].clone());
    assert_eq!(step_of("/before.txt"), Some(Value::Null), "{summary:#}");
    assert_eq!(step_of("/bye.txt"), Some(json!(2)), "a step whose check failed is still in progress: {summary:#}");
    assert_eq!(step_of("/log.txt"), Some(json!(2)), "{summary:#}");
}
