//! The planner at work: it explores, drafts, asks, is sent back, and hands over to the actor. And roles that the user picks.

use crate::{home, plan, write};
use planwright_testkit::client::{ChatClient, last_id, of_type};
use reqwest::StatusCode;
use serde_json::{Value, json};

const PLAN_FILE: &str = "/plans/say-goodbye.plan";

fn call(tool: &str, args: &Value) -> Value {
    json!({ "tool": tool, "args": args })
}

fn script() -> Value {
    let planner = [
        "You are in PLAN mode",
        "You are operating in PLANNER role",
        "Explore the code to change",
        "`write_plan`",
        "call `exit_plan_mode`",
    ];
    let explore = [call("grep", &json!({ "pattern": "Hello" })), call("ls", &json!({})), call("read", &json!({ "path": "/hello.txt" }))];
    let mut revised = plan("bye.txt");
    revised["steps"][0]["action"] = json!("Write a kinder file");
    let leave = call("exit_plan_mode", &json!({ "plan_file_path": PLAN_FILE }));
    json!({
        "plan": [
            { "text": "Let me look.", "calls": explore, "told": planner, "not_told": ["APPROVED EXECUTION PLAN", "ACTOR role"] },
            { "text": "A draft.", "calls": [call("write_plan", &plan("bye.txt"))], "told": ["hello.txt"] },
            { "text": "It is ready.", "calls": [leave] },
            { "text": "Kinder, then.", "calls": [call("write_plan", &revised)], "told": ["Keep Planning"] },
            { "text": "Better?", "calls": [leave] },
        ],
        "act": [
            {
                "text": "Working.", "calls": [write("/bye.txt", "Goodbye\n")],
                "told": ["You are in ACT mode", "You are operating in ACTOR role", "## APPROVED EXECUTION PLAN", "Write a kinder file"],
                "not_told": ["PLANNER role"],
            },
            { "text": "Done." },
        ],
    })
}

fn words(events: &[Value], of: &str, key: &str) -> Vec<String> {
    of_type(events, of).iter().map(|data| data[key].as_str().unwrap().to_owned()).collect()
}

async fn answered(chat: &ChatClient<'_>, card: &Value, approve: bool) {
    let (status, body) = chat.answer(&card["question_id"], json!({ "approve": approve })).await;
    assert_eq!(status, StatusCode::ACCEPTED, "{body}");
}

fn waiting(event: &Value) -> bool {
    event["data"]["state"] == "awaiting_answer"
}

#[tokio::test]
async fn a_planner_begins_one_plan_file_and_can_mend_what_it_wrote() {
    let content = |text: &str| json!({ "path": "/plans/a.plan", "content": text });
    let whole = "---\ngoal: Greet\n---\n# Greet\n\n## Steps\n\n- [ ] 1. Say hello\n";
    let home = home(&json!({ "plan": [
        { "calls": [call("touch", &json!({ "path": "/plans/a.plan" })), call("touch", &json!({ "path": "/plans/b.plan" }))] },
        { "calls": [write("/plans/c.plan", "no plan"), call("touch", &json!({ "path": "/plans/d.plan" }))], "told": ["the plan of this chat is /plans/a.plan"] },
        { "calls": [call("write", &content("no plan"))] },
        { "calls": [call("edit", &json!({ "path": "/plans/a.plan", "old_string": "no plan", "new_string": "none yet" }))] },
        { "calls": [call("exit_plan_mode", &json!({ "plan_file_path": "/plans/a.plan" }))] },
        { "calls": [call("write", &content(whole))], "told": ["Fix it"] },
        { "text": "Ready." },
        { "calls": [call("write_plan", &plan("bye.txt"))] },
        { "text": "Another." },
    ] }));
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    chat.say("Greet").await;
    let events = chat.run_to_end(0).await;
    assert_eq!(of_type(&events, "run_finished")[0]["outcome"], "done", "{:?}", of_type(&events, "run_finished"));
    let results = of_type(&events, "tool_result");
    let codes: Vec<&str> = results.iter().map(|result| result["error"]["code"].as_str().unwrap_or("done")).collect();
    let not_owned = "PLAN_NOT_OWNED";
    assert_eq!(codes, ["done", not_owned, not_owned, not_owned, "done", "done", "PLAN_INVALID", "done"]);
    assert_eq!(chat.show().await["config"]["plan_file"], "/plans/a.plan");
    chat.say("Say goodbye instead").await;
    chat.run_to_end(last_id(&events)).await;
    let files: Vec<String> =
        std::fs::read_dir(home.workspace().join("plans")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(files, ["a.plan"]);
    assert!(home.file("plans/a.plan").unwrap().contains("# Say goodbye"));
}

#[tokio::test]
async fn a_new_chat_explores_drafts_is_sent_back_revises_is_approved_and_carries_the_plan_out() {
    let home = home(&script());
    home.put("hello.txt", "Hello\n");
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    assert_eq!(chat.show().await["config"]["agent_role"], "planner");

    chat.say("Say goodbye as well").await;
    let drafting = chat.events(0, waiting).await;
    let states = words(&drafting, "state_changed", "state");
    let of_planning: Vec<&str> = states.iter().map(String::as_str).filter(|state| *state != "thinking").collect();
    assert_eq!(of_planning, ["exploring", "planning", "exploring", "awaiting_answer"]);
    let first = of_type(&drafting, "question_pending")[0].clone();
    assert_eq!((&first["kind"], &first["plan"]["revision"]), (&json!("plan_approval"), &json!(1)));
    assert!(home.file("plans/say-goodbye.plan").unwrap().contains("status: draft"));

    answered(&chat, &first, false).await;
    let revising = chat.events(last_id(&drafting), waiting).await;
    assert!(of_type(&revising, "mode_changed").is_empty(), "a no changes nothing");
    assert_eq!((chat.show().await["config"]["mode"].as_str(), home.file("bye.txt")), (Some("plan"), None));
    let second = of_type(&revising, "question_pending")[0].clone();
    assert_eq!((&second["plan"]["revision"], &second["plan"]["steps"][0]["action"]), (&json!(2), &json!("Write a kinder file")));
    assert_ne!(second["plan"]["sha256"], first["plan"]["sha256"]);
    assert_eq!(server.get("/audit?kind=approval_denied").await.as_array().unwrap().len(), 1);

    answered(&chat, &second, true).await;
    let acting = chat.run_to_end(last_id(&revising)).await;
    assert_eq!(words(&acting, "mode_changed", "by"), ["approval"]);
    assert!(words(&acting, "state_changed", "state").contains(&"executing".to_owned()));
    // The script fails the run if a model is not told what its role, its mode or its plan demand.
    assert_eq!(words(&acting, "run_finished", "outcome"), ["done"]);
    assert_eq!(home.file("bye.txt").as_deref(), Some("Goodbye\n"));
    let all = [drafting, revising, acting].concat();
    assert!(of_type(&all, "violation").is_empty(), "a planner that keeps to its role is refused nothing");
    assert!(of_type(&all, "tool_result").iter().all(|result| result["success"] == true));
    let plans: Vec<Value> = chat.messages().await.into_iter().filter(|message| message["message_type"] == "plan").collect();
    assert_eq!(plans.iter().map(|message| &message["metadata"]["revision"]).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(chat.show().await["config"]["plan_file"], PLAN_FILE);
}

#[tokio::test]
async fn a_role_that_the_user_picks_is_noted_in_the_history_and_holds_for_what_follows() {
    let home = home(&json!({ "turns": [{ "text": "Hello." }] }));
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    let mut last = 0;
    for (before, role) in [("planner", "tester"), ("tester", "designer"), ("designer", "reviewer"), ("reviewer", "actor")] {
        let told = format!("You are operating in {} role", role.to_uppercase());
        home.write_script(&json!({ "turns": [{ "text": role, "told": [told] }], "repeat": true }));
        let (status, shown) = chat.patch(json!({ "agent_role": role })).await;
        assert_eq!((status, &shown["config"]["agent_role"]), (StatusCode::OK, &json!(role)));
        chat.say("Hello").await;
        let events = chat.run_to_end(last).await;
        last = last_id(&events);
        assert_eq!(of_type(&events, "run_finished"), [&json!({ "outcome": "done" })], "{role}");
        assert_eq!(
            (words(&events, "mode_changed", "agent_role"), words(&events, "mode_changed", "by")),
            (vec![role.to_owned()], vec!["user".to_owned()])
        );
        let messages = chat.messages().await;
        let [note, _, reply] = &messages[messages.len() - 3..] else { panic!("too few messages") };
        assert_eq!(
            (&note["author"], &note["metadata"]["mode_change"]),
            (&json!("system"), &json!({ "from": before, "to": role, "by": "user" }))
        );
        assert_eq!((&reply["content"], &reply["agent_role"]), (&json!(role), &json!(role)));
    }
    assert_eq!(chat.messages().await[1]["content"], "Hello", "what was said before stays as it was");
}

#[tokio::test]
async fn leaving_act_mode_while_a_question_waits_needs_confirmation_and_ends_the_question() {
    for role in ["planner", "reviewer"] {
        let home = home(&json!({ "turns": [{ "calls": [call("rm", &json!({ "path": "/a.txt" }))] }] }));
        home.put("a.txt", "a\n");
        let server = home.serve().await;
        let chat = server.chat(json!({ "mode": "build" })).await;
        chat.say("Delete it").await;
        let asking = chat.events(0, waiting).await;
        let card = of_type(&asking, "question_pending")[0].clone();
        let (status, body) = chat.patch(json!({ "agent_role": role })).await;
        assert_eq!((status, &body["error"]["code"]), (StatusCode::CONFLICT, &json!("CONFIRMATION_REQUIRED")));
        assert!(body["error"]["message"].as_str().unwrap().contains("will stop"), "{body}");
        assert_eq!(chat.show().await["pending_question"]["question_id"], card["question_id"], "nothing has changed yet");
        let (status, shown) = chat.patch(json!({ "agent_role": role, "confirm": true })).await;
        assert_eq!((status, &shown["config"]["agent_role"], &shown["pending_question"]), (StatusCode::OK, &json!(role), &Value::Null));
        let after = chat.events(last_id(&asking), |event| event["type"] == "mode_changed").await;
        assert_eq!(of_type(&after, "question_resolved")[0]["outcome"], "stopped");
        let (status, body) = chat.answer(&card["question_id"], json!({ "decision": "approve" })).await;
        assert_eq!((status, &body["error"]["code"]), (StatusCode::CONFLICT, &json!("QUESTION_NOT_PENDING")));
        assert!(home.file("a.txt").is_some());
    }
}

#[tokio::test]
async fn a_switch_back_to_plan_in_mid_run_holds_for_the_very_next_call() {
    let wait = call("run", &json!({ "command": "echo begun; sleep 60" }));
    let home = home(&json!({
        "act": [{ "calls": [write("/one.txt", "1\n"), wait, write("/two.txt", "2\n")] }],
        "plan": [{ "calls": [write("/two.txt", "2\n")], "told": ["You are in PLAN mode"] }, { "text": "As you like." }],
    }));
    let server = home.serve().await;
    let chat = server.chat(json!({ "mode": "build" })).await;
    chat.say("Write both").await;
    let begun = chat.events(0, |event| event["type"] == "tool_output").await;
    assert_eq!(home.file("one.txt").as_deref(), Some("1\n"));
    let (status, shown) = chat.patch(json!({ "mode": "plan", "confirm": true })).await;
    assert_eq!((status, &shown["state"], &shown["config"]["agent_mode"]), (StatusCode::OK, &json!("idle"), &json!("plan")));
    let stopped = chat.events(last_id(&begun), |event| event["type"] == "mode_changed").await;
    assert_eq!(of_type(&stopped, "tool_result").last().unwrap()["error"]["code"], "CANCELLED");

    chat.say("And now?").await;
    let after = chat.run_to_end(last_id(&stopped)).await;
    assert_eq!(of_type(&after, "tool_result")[0]["error"]["code"], "TOOL_BLOCKED_BY_MODE");
    assert_eq!(of_type(&after, "run_finished"), [&json!({ "outcome": "done" })]);
    assert_eq!(home.file("two.txt"), None);
}
