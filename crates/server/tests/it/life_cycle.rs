//! From a request to a plan, a refusal, an approval and a file on disk.

use crate::{home, plan, write};
use planwright_testkit::client::{last_id, of_type};
use reqwest::StatusCode;
use serde_json::{Value, json};

fn script() -> Value {
    json!({
        "plan": [
            { "text": "Let me look.", "calls": [{ "tool": "read", "args": { "path": "/hello.txt" } }] },
            { "text": "I will just do it.", "calls": [write("/bye.txt", "Goodbye\n")] },
            { "text": "Then I plan.", "calls": [{ "tool": "write_plan", "args": plan("bye.txt") }] },
            { "text": "The plan is ready." },
        ],
        "act": [
            { "text": "Working.", "calls": [write("/bye.txt", "Goodbye\n")] },
            { "text": "Done." },
        ],
    })
}

#[tokio::test]
async fn from_request_to_plan_to_refused_write_to_approval_to_file_on_disk() {
    let home = home(&script());
    home.put("hello.txt", "Hello\n");
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    assert_eq!(chat.show().await["config"], json!({"agent_role": "planner", "agent_mode": "plan", "mode": "plan", "plan_file": null}));

    chat.say("Say goodbye, please").await;
    let planning = chat.run_to_end(0).await;
    let results = of_type(&planning, "tool_result");
    assert_eq!(results.iter().map(|result| result["success"].as_bool().unwrap()).collect::<Vec<_>>(), [true, false, true]);
    assert_eq!(results[1]["error"]["code"], "TOOL_BLOCKED_BY_MODE");
    assert!(results[1]["error"]["message"].as_str().unwrap().starts_with("System is in Plan Mode."));
    assert_eq!(of_type(&planning, "violation"), [&json!({"code": "TOOL_BLOCKED_BY_MODE", "tool": "write", "agent_role": "planner"})]);
    assert_eq!(home.file("bye.txt"), None, "plan mode changed a file");
    assert_eq!(of_type(&planning, "run_finished"), [&json!({"outcome": "done"})]);

    let plan_file = chat.show().await["config"]["plan_file"].clone();
    assert_eq!(plan_file, "/plans/say-goodbye.plan");
    assert!(home.file("plans/say-goodbye.plan").unwrap().contains("- [ ] 1. Write the file"));
    let messages = chat.messages().await;
    assert_eq!(messages.last().unwrap()["content"], "The plan is ready.", "the model has the last word");
    let plan_message = messages.iter().find(|message| message["message_type"] == "plan").unwrap();
    assert_eq!(plan_message["metadata"]["plan"]["goal"], "Say goodbye");
    assert_eq!(plan_message["metadata"]["plan_file"], plan_file);

    let (status, approved) = chat.post("execute").await;
    assert_eq!(status, StatusCode::OK, "{approved}");
    let acting = chat.run_to_end(last_id(&planning)).await;
    let changed = of_type(&acting, "mode_changed");
    assert_eq!(changed, [&json!({"agent_role": "actor", "agent_mode": "act", "mode": "build", "plan_file": plan_file, "by": "approval"})]);
    assert!(of_type(&acting, "tool_result").iter().all(|result| result["success"] == true));
    assert_eq!(home.file("bye.txt").as_deref(), Some("Goodbye\n"));
    assert_eq!(chat.show().await["state"], "idle");
}

#[tokio::test]
async fn execute_without_a_plan_is_refused() {
    let home = home(&script());
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    let (status, body) = chat.post("execute").await;
    assert_eq!((status, &body["error"]["code"]), (StatusCode::CONFLICT, &json!("NO_PLAN")));
    assert_eq!(chat.show().await["config"]["mode"], "plan");
}

#[tokio::test]
async fn a_change_outside_the_approved_plan_asks_and_follows_the_answer() {
    for (decision, expected) in [("approve", Some("x\n")), ("deny", None)] {
        let home = home(&json!({
            "plan": [{ "calls": [{ "tool": "write_plan", "args": plan("bye.txt") }] }, { "text": "Ready." }],
            "act": [{ "calls": [write("/other.txt", "x\n")] }, { "text": "Done." }],
        }));
        let server = home.serve().await;
        let chat = server.chat(json!({})).await;
        chat.say("Plan it").await;
        let planning = chat.run_to_end(0).await;
        chat.post("execute").await;
        let asking = chat.events(last_id(&planning), |event| event["data"]["state"] == "awaiting_answer").await;
        let question = of_type(&asking, "question_pending")[0].clone();
        assert_eq!((&question["kind"], &question["severity"]), (&json!("tool_approval"), &json!("major")));
        assert_eq!(home.file("other.txt"), None, "written before the answer");

        let (status, body) = chat.answer(&question["question_id"], json!({ "decision": "perhaps" })).await;
        assert_eq!((status, &body["error"]["code"]), (StatusCode::BAD_REQUEST, &json!("VALIDATION_FAILED")));
        assert_eq!(chat.answer(&question["question_id"], json!({ "decision": decision })).await.0, StatusCode::ACCEPTED);
        chat.run_to_end(last_id(&asking)).await;
        assert_eq!(home.file("other.txt").as_deref(), expected, "{decision}");
        let (status, body) = chat.answer(&question["question_id"], json!({ "decision": decision })).await;
        assert_eq!((status, &body["error"]["code"]), (StatusCode::CONFLICT, &json!("QUESTION_NOT_PENDING")));
    }
}

#[tokio::test]
async fn leaving_act_mode_during_a_run_needs_confirmation_and_stops_it() {
    let home = home(
        &json!({ "turns": [{ "text": "a b c d e f g h i j k l m n o p q r s t u v w x y z", "delay_ms": 400, "calls": [write("/late.txt", "x")] }] }),
    );
    let server = home.serve().await;
    let chat = server.chat(json!({ "mode": "build" })).await;
    chat.say("Go").await;
    chat.events(0, |event| event["type"] == "text_delta").await;
    let (status, body) = chat.patch(json!({ "mode": "plan" })).await;
    assert_eq!((status, &body["error"]["code"]), (StatusCode::CONFLICT, &json!("CONFIRMATION_REQUIRED")));
    let (status, body) = chat.patch(json!({ "mode": "plan", "confirm": true })).await;
    assert_eq!((status, &body["config"]["agent_role"], &body["state"]), (StatusCode::OK, &json!("planner"), &json!("idle")));
    assert_eq!(home.file("late.txt"), None);
    let note = chat.messages().await.into_iter().find(|message| message["author"] == "system").unwrap();
    assert_eq!(note["metadata"]["mode_change"], json!({"from": "actor", "to": "planner", "by": "user"}));
}

#[tokio::test]
async fn what_the_model_asked_for_in_one_role_is_not_done_in_another() {
    let home = home(&json!({
        "plan": [{ "text": "one two three", "delay_ms": 200, "calls": [write("/sneaky.txt", "x")] }, { "text": "Done." }],
        "act": [{ "text": "Done." }],
    }));
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    chat.say("Go").await;
    chat.events(0, |event| event["type"] == "text_delta").await;
    assert_eq!(chat.patch(json!({ "mode": "act" })).await.0, StatusCode::OK);
    let events = chat.run_to_end(0).await;
    assert_eq!(of_type(&events, "tool_result")[0]["error"]["code"], "MODE_CHANGED");
    assert_eq!(home.file("sneaky.txt"), None);
}

#[tokio::test]
async fn a_stopped_run_tells_what_became_of_each_of_its_calls() {
    let read = json!({ "tool": "read", "args": { "path": "/.env" } });
    let home = home(&json!({ "turns": [{ "calls": [read, write("/a.txt", "x"), write("/b.txt", "x")] }] }));
    home.put(".env", "KEY=1\n");
    let server = home.serve().await;
    let chat = server.chat(json!({ "mode": "build" })).await;
    chat.say("Go").await;
    let asking = chat.events(0, |event| event["data"]["state"] == "awaiting_answer").await;
    chat.post("stop").await;
    let stopped = chat.run_to_end(last_id(&asking)).await;
    let codes: Vec<&Value> = of_type(&stopped, "tool_result").iter().map(|result| &result["error"]["code"]).collect();
    assert_eq!(codes, ["CANCELLED", "CANCELLED", "CANCELLED"]);
    let calls: Vec<Value> = chat.messages().await.into_iter().filter(|message| message["message_type"] == "tool_call").collect();
    assert!(calls.iter().all(|call| call["metadata"]["status"] == "cancelled"), "{calls:#?}");
    assert_eq!((home.file("a.txt"), home.file("b.txt")), (None, None));
}

#[tokio::test]
async fn a_message_instead_of_an_answer_ends_the_rest_of_the_reply() {
    let read = json!({ "tool": "read", "args": { "path": "/.env" } });
    let home = home(&json!({ "turns": [{ "calls": [read, write("/a.txt", "x")] }, { "text": "As you say." }] }));
    home.put(".env", "KEY=1\n");
    let server = home.serve().await;
    let chat = server.chat(json!({ "mode": "build" })).await;
    chat.say("Go").await;
    let asking = chat.events(0, |event| event["data"]["state"] == "awaiting_answer").await;
    chat.say("No! Do nothing else.").await;
    let after = chat.run_to_end(last_id(&asking)).await;
    let codes: Vec<&Value> = of_type(&after, "tool_result").iter().map(|result| &result["error"]["code"]).collect();
    assert_eq!(codes, ["APPROVAL_DENIED", "CANCELLED"]);
    assert_eq!(home.file("a.txt"), None);
}

#[tokio::test]
async fn in_plan_mode_the_users_own_files_below_plans_are_safe_too() {
    let call = |tool: &str, args: Value| json!({ "tool": tool, "args": args });
    let calls = [
        call("rm", json!({ "path": "/plans/notes", "recursive": true })),
        call("rm", json!({ "path": "/plans/by-hand.plan" })),
        call("mv", json!({ "from": "/plans/by-hand.plan", "to": "/plans/x.plan" })),
        call("edit", json!({ "path": "/plans/by-hand.plan", "old_string": "one", "new_string": "two" })),
        call("mkdir", json!({ "path": "/plans/new" })),
    ];
    let home = home(&json!({ "turns": [{ "calls": calls }, { "text": "Done." }] }));
    home.put("plans/notes/roadmap.md", "mine\n");
    home.put("plans/by-hand.plan", "# Mine\n\n- [ ] one\n");
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    chat.say("Go").await;
    let events = chat.run_to_end(0).await;
    assert!(of_type(&events, "tool_result").iter().all(|result| result["success"] == false), "{events:#?}");
    assert_eq!(of_type(&events, "violation").len(), 5);
    assert_eq!(home.file("plans/by-hand.plan").as_deref(), Some("# Mine\n\n- [ ] one\n"));
    assert!(home.file("plans/notes/roadmap.md").is_some() && !home.workspace().join("plans/new").exists());
}

#[tokio::test]
async fn a_plan_whose_file_was_deleted_does_not_block_its_name_for_others() {
    let home =
        home(&json!({ "turns": [{ "calls": [{ "tool": "write_plan", "args": plan("bye.txt") }] }, { "text": "Ready." }], "repeat": true }));
    let server = home.serve().await;
    let first = server.chat(json!({})).await;
    first.say("Plan").await;
    first.run_to_end(0).await;
    std::fs::remove_dir_all(home.workspace().join("plans")).unwrap();
    let second = server.chat(json!({})).await;
    second.say("Plan").await;
    second.run_to_end(0).await;
    assert_eq!(second.show().await["config"]["plan_file"], "/plans/say-goodbye-2.plan");
}
