//! Killed in the middle, started again, and nothing lost or done twice.

use crate::{home, plan, write};
use planwright_testkit::server::{last_id, of_type};
use serde_json::{Value, json};

fn script() -> Value {
    json!({
        "plan": [{ "calls": [{ "tool": "write_plan", "args": plan("*.txt") }] }, { "text": "Ready." }],
        "act": [{ "text": "First.", "calls": [write("/one.txt", "1\n")] }, { "text": "Second.", "calls": [write("/two.txt", "2\n")] }, { "text": "Done." }],
    })
}

/// The messages of a chat that was never cut off.
async fn ends_well(home: &planwright_testkit::server::Home, path: &str) {
    let server = home.serve().await;
    let chat = server.reopened(path);
    let events = chat.run_to_end(0).await;
    let events = if of_type(&events, "mode_changed").is_empty() {
        [events.clone(), chat.run_to_end(last_id(&events)).await].concat()
    } else {
        events
    };
    assert_eq!(of_type(&events, "run_finished").last().unwrap()["outcome"], "done");
    assert_eq!((home.file("one.txt").as_deref(), home.file("two.txt").as_deref()), (Some("1\n"), Some("2\n")));
    let messages = chat.messages().await;
    let count = |kind: &str| messages.iter().filter(|message| message["message_type"] == kind).count();
    assert_eq!((count("tool_call"), count("tool_result")), (3, 3), "a call was lost or made twice: {messages:#?}");
    assert!(
        messages.iter().filter(|message| message["message_type"] == "tool_result").all(|message| message["metadata"]["success"] == true),
        "{messages:#?}"
    );
    let ids: Vec<u64> = events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert!(ids.is_sorted_by(|a, b| a < b), "event ids must grow, also over a restart: {ids:?}");
}

#[tokio::test]
async fn a_run_killed_at_a_crash_point_goes_on_after_the_restart() {
    for point in ["intent_stored", "effect_done", "result_stored"] {
        let home = home(&script());
        let server = home.serve().await;
        let chat = server.chat(json!({})).await;
        chat.say("Plan it").await;
        chat.run_to_end(0).await;
        let path = chat.path.clone();
        server.kill().await;

        let server = home.serve_with(&[("PLANWRIGHT_CRASH_POINT", point)]).await;
        // The answer may get lost with the process; what it did may not.
        let body = json!({});
        let _ = tokio::time::timeout(planwright_testkit::PATIENCE, server.post_unchecked(&format!("{path}/execute"), &body)).await;
        assert!(!server.ended().await, "the process should have died at {point}");
        ends_well(&home, &path).await;
    }
}

#[tokio::test]
async fn a_run_killed_while_the_model_speaks_goes_on_after_the_restart() {
    let mut script = script();
    script["act"][1]["delay_ms"] = json!(300);
    script["act"][1]["text"] = json!("one two three four five six");
    let home = home(&script);
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    chat.say("Plan it").await;
    let planning = chat.run_to_end(0).await;
    chat.post("execute").await;
    chat.events(last_id(&planning), |event| event["type"] == "text_delta" && event["data"]["text"] == "two ").await;
    let path = chat.path.clone();
    server.kill().await;
    ends_well(&home, &path).await;
}

#[tokio::test]
async fn a_pending_question_is_still_answerable_after_kill() {
    let home = home(&json!({ "act": [{ "calls": [{ "tool": "read", "args": { "path": "/.env" } }] }, { "text": "Done." }] }));
    home.put(".env", "KEY=1\n");
    let server = home.serve().await;
    let chat = server.chat(json!({ "agent_role": "actor" })).await;
    chat.say("Read it").await;
    let asking = chat.events(0, |event| event["data"]["state"] == "awaiting_answer").await;
    let (path, last) = (chat.path.clone(), last_id(&asking));
    server.kill().await;

    let server = home.serve().await;
    let chat = server.reopened(&path);
    let shown = chat.show().await;
    assert_eq!((&shown["state"], &shown["config"]["agent_role"]), (&json!("awaiting_answer"), &json!("actor")));
    let question = &shown["pending_question"]["question_id"];
    chat.answer(question, json!({ "decision": "approve" })).await;
    let events = chat.run_to_end(last).await;
    assert_eq!(of_type(&events, "tool_result")[0]["success"], true);
}

#[tokio::test]
async fn a_graceful_shutdown_parks_the_run_and_the_next_start_goes_on() {
    let mut script = script();
    script["act"][0]["delay_ms"] = json!(300);
    let home = home(&script);
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    chat.say("Plan it").await;
    let planning = chat.run_to_end(0).await;
    chat.post("execute").await;
    chat.events(last_id(&planning), |event| event["type"] == "mode_changed").await;
    let path = chat.path.clone();
    assert!(server.terminate().await);
    ends_well(&home, &path).await;
}

#[tokio::test]
async fn folders_made_moved_and_removed_are_neither_done_twice_nor_lied_about_after_a_kill() {
    let call = |tool: &str, args: Value| json!({ "tool": tool, "args": args });
    for (tool, args) in [
        ("mkdir", json!({ "path": "/new" })),
        ("mv", json!({ "from": "/old", "to": "/moved" })),
        ("rm", json!({ "path": "/empty" })),
        ("rm", json!({ "path": "/old", "recursive": true })),
        ("touch", json!({ "path": "/touched.txt" })),
    ] {
        for point in ["intent_stored", "effect_done"] {
            let home = home(&json!({ "turns": [{ "calls": [call(tool, args.clone())] }, { "text": "Done." }] }));
            home.put("old/a.txt", "a\n");
            std::fs::create_dir(home.workspace().join("empty")).unwrap();
            home.put("../.config/planwright/config.toml", "[approvals]\ndelete = \"allow\"\n");
            let server = home.serve_with(&[("PLANWRIGHT_CRASH_POINT", point)]).await;
            let chat = server.chat(json!({ "mode": "build" })).await;
            let path = chat.path.clone();
            server.post_unchecked(&format!("{path}/messages"), &json!({ "content": "Go" })).await;
            assert!(!server.ended().await);
            let server = home.serve().await;
            let events = server.reopened(&path).run_to_end(0).await;
            let results = of_type(&events, "tool_result");
            assert_eq!((results.len(), &results[0]["success"]), (1, &json!(true)), "{tool} {args} at {point}: {results:?}");
        }
    }
}

#[tokio::test]
async fn a_kill_during_a_command_that_may_change_nothing_leaves_the_workspace_alone() {
    let run = json!({ "tool": "run", "args": { "command": "echo begun; sleep 60" } });
    let home = home(&json!({ "turns": [{ "calls": [run] }, { "text": "Done." }] }));
    home.put("src/lib.rs", "mine\n");
    let server = home.serve().await;
    let chat = server.chat(json!({ "agent_role": "tester" })).await;
    chat.say("Go").await;
    chat.events(0, |event| event["type"] == "tool_output").await;
    let path = chat.path.clone();
    server.kill().await;

    let server = home.serve().await;
    let events = server.reopened(&path).run_to_end(0).await;
    assert_eq!(of_type(&events, "tool_result")[0]["error"]["code"], "OUTCOME_UNKNOWN");
    assert_eq!(home.file("src/lib.rs").as_deref(), Some("mine\n"));
}

#[tokio::test]
async fn an_approval_for_good_whose_answer_got_lost_gives_no_leave() {
    let rm = |path: &str| json!({ "tool": "rm", "args": { "path": path } });
    let home = home(&json!({ "turns": [{ "calls": [rm("/one.txt"), rm("/two.txt")] }, { "text": "Done." }] }));
    home.put("one.txt", "1\n");
    home.put("two.txt", "2\n");
    // The first passage is the message, the second the answer.
    let server = home.serve_with(&[("PLANWRIGHT_CRASH_POINT", "message_unstored:2")]).await;
    let chat = server.chat(json!({ "mode": "build" })).await;
    chat.say("Go").await;
    chat.events(0, |event| event["data"]["state"] == "awaiting_answer").await;
    let (path, question) = (chat.path.clone(), chat.show().await["pending_question"]["question_id"].clone());
    let always = json!({ "question_answer": { "question_id": question, "answers": { "decision": "approve_always" } } });
    server.post_unchecked(&format!("{path}/messages"), &json!({ "metadata": always })).await;
    assert!(!server.ended().await);

    let server = home.serve().await;
    let chat = server.reopened(&path);
    chat.answer(&question, json!({ "decision": "deny" })).await;
    chat.events(0, |event| event["type"] == "question_pending" && event["data"]["question_id"] != question).await;
    assert!(home.file("one.txt").is_some() && home.file("two.txt").is_some(), "deleted without leave");
}
