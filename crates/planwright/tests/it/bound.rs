//! What was approved holds to the end, whatever the model does to its plan, its boxes or its helpers.

use crate::changes::{Work, one_call_a_message};
use crate::home;
use crate::progress::{FILE, approved, home_of, plan, step, steps, turn};
use crate::write;
use planwright_testkit::server::{last_id, of_type};
use serde_json::{Value, json};
use std::process::Command;

fn run(command: &str) -> Value {
    json!({ "tool": "run", "args": { "command": command } })
}

#[tokio::test]
async fn a_plan_that_the_model_writes_in_act_mode_does_not_lift_the_approved_one() {
    let mut other = plan();
    other["goal"] = json!("Something else");
    other["path"] = json!("/plans/other.plan");
    let by_tool = json!({ "tool": "write_plan", "args": other });
    let by_hand = write("/plans/third.plan", "---\ngoal: Third\nstatus: draft\n---\n\n# Third\n\n## Steps\n\n- [ ] 1. Anything\n");
    for call in [by_tool, by_hand] {
        let home = home_of(&plan(), &[turn(&[call, write("/evil.txt", "x")])]);
        home.put_config("[approvals]\noutside_plan = \"deny\"\n");
        let server = home.serve().await;
        let chat = server.chat(json!({})).await;
        let planned = approved(&chat).await;
        let events = chat.run_to_end(planned).await;
        let last = of_type(&events, "tool_result").last().copied().cloned().unwrap();
        assert_eq!(last["error"]["code"], "TOOL_NOT_PERMITTED", "{last}");
        assert_eq!(home.file("evil.txt"), None);
        assert_eq!(of_type(&events, "run_finished")[0]["open_steps"], json!([1, 2]), "the approved plan is still open");
        let chat = chat.show().await;
        assert_eq!(chat["config"]["plan_file"], format!("/{FILE}"));
        assert_eq!(chat["progress"]["total"], 2);
    }
}

#[tokio::test]
async fn a_command_that_ticks_the_boxes_asks_and_an_edit_that_does_is_undone() {
    let tick = run(&format!("sed -i 's/- \\[.\\] /- [x] /' {FILE}"));
    let home = home_of(&plan(), &[turn(&[tick])]);
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    let planned = approved(&chat).await;
    let asking = chat.events(planned, |event| event["data"]["state"] == "awaiting_answer").await;
    let question = of_type(&asking, "question_pending")[0].clone();
    assert_eq!((&question["severity"], &question["call"]["moment"]), (&json!("major"), &json!("after")), "{question}");
    chat.answer(&question["question_id"], json!({ "decision": "deny" })).await;
    chat.run_to_end(last_id(&asking)).await;
    assert!(home.file(FILE).unwrap().contains("- [ ] 1."));

    let look = json!({ "tool": "read", "args": { "path": format!("/{FILE}") } });
    let edit = json!({ "tool": "edit", "args": { "path": format!("/{FILE}"), "old_string": "- [ ] 2.", "new_string": "- [x] 2." } });
    let home = home_of(&plan(), &[turn(&[look, edit]), turn(&[step(1, "done")])]);
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    let planned = approved(&chat).await;
    let events = chat.run_to_end(planned).await;
    assert!(of_type(&events, "tool_result").iter().all(|result| result["success"] == true), "{events:#?}");
    let file = home.file(FILE).unwrap();
    assert!(file.contains("- [x] 1.") && file.contains("- [ ] 2."), "{file}");
}

#[tokio::test]
async fn a_box_that_was_ticked_in_the_file_is_no_proof_for_a_step_with_a_check() {
    let home = home_of(&plan(), &[turn(&[step(1, "in_progress")])]);
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    let planned = approved(&chat).await;
    chat.run_to_end(planned).await;
    home.put(FILE, &home.file(FILE).unwrap().replace("- [ ] 2.", "- [x] 2."));
    chat.patch(json!({ "mode": "plan" })).await;
    let (status, body) = chat.post("execute").await;
    assert!(status.is_success(), "{body}");
    assert_eq!(body["progress"]["steps"][1]["status"], "pending", "{body}");
}

#[tokio::test]
async fn progress_is_taken_back_with_the_work() {
    let act = [turn(&[write("/bye.txt", "Goodbye\n"), step(1, "done")]), json!({ "text": "One." }), turn(&[step(2, "done")])];
    let home = home_of(&plan(), &act);
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    let planned = approved(&chat).await;
    let first = chat.run_to_end(planned).await;
    let said = chat.say("Go on").await;
    let second = chat.run_to_end(last_id(&first)).await;
    assert_eq!(chat.show().await["progress"]["done"], 2);
    let revert = |message: Value| {
        let path = format!("{}/revert", chat.path);
        let server = &server;
        async move { server.post(&path, json!({ "message_id": message })).await }
    };
    let (status, taken) = revert(said["id"].clone()).await;
    assert!(status.is_success(), "{taken}");
    let progress = chat.show().await["progress"].clone();
    assert_eq!((&progress["steps"][0]["status"], &progress["steps"][1]["status"]), (&json!("done"), &json!("pending")), "{progress}");
    let told = chat.events(last_id(&second), |event| event["type"] == "plan_step").await;
    assert_eq!(steps(&told), [(2, "pending")]);
    assert!(home.file(FILE).unwrap().contains("- [ ] 2."));
    // And that again.
    revert(taken["message"]["id"].clone()).await;
    assert_eq!(chat.show().await["progress"]["done"], 2);
    assert!(home.file(FILE).unwrap().contains("- [x] 2."));
}

#[tokio::test]
async fn what_git_keeps_is_the_users_also_in_a_folder_that_is_named_like_build_output() {
    let calls =
        [run("rm node_modules/own.js; echo n > node_modules/new.js"), run("mkdir -p sub/node_modules/q; touch sub/node_modules/q/x")];
    let home = one_call_a_message(&calls);
    home.put("node_modules/own.js", "mine\n");
    for args in [&["init", "-q"][..], &["add", "-f", "node_modules/own.js"]] {
        assert!(Command::new("git").args(args).current_dir(home.workspace()).status().unwrap().success());
    }
    let server = home.serve().await;
    let mut work = Work::begin(&server).await;
    let (first, _) = work.next().await;
    assert_eq!(home.file("node_modules/own.js"), None);
    let changes = work.changes().await;
    let paths: Vec<&str> = changes["total"]["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["/node_modules/new.js", "/node_modules/own.js"]);
    let (_, result) = work.next().await;
    assert!(result["result"]["output"].as_str().unwrap().contains("such as /sub/node_modules"), "it is told what is not noted: {result}");
    work.back_to(&first).await;
    assert_eq!((home.file("node_modules/own.js").as_deref(), home.file("node_modules/new.js")), (Some("mine\n"), None));
}

#[tokio::test]
async fn the_limit_of_turns_is_for_a_commander_and_its_delegates_together() {
    let task = |task: &str| json!({ "tool": "delegate", "args": { "role": "actor", "task": task } });
    let look = json!({ "calls": [{ "tool": "ls", "args": {} }] });
    let work: Vec<Value> = std::iter::repeat_n(look, 4).chain([json!({ "text": "Looked." })]).collect();
    let home = home(&json!({
        "turns": [{ "calls": [task("one"), task("two"), task("three")] }, { "text": "All done." }],
        "tasks": { "one": work, "two": work, "three": work },
    }));
    home.put_config("[limits]\nturns = 8\n");
    let server = home.serve().await;
    let chat = server.chat(json!({ "agent_role": "commander" })).await;
    chat.say("Have it looked at").await;
    let events = chat.run_to_end(0).await;
    assert_eq!(of_type(&events, "usage").len(), 8, "so many requests, whoever made them");
    assert_eq!(of_type(&events, "run_finished")[0]["error"]["code"], "LIMIT_REACHED");
}
