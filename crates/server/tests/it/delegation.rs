//! A Commander that hands tasks to a Planner and an Actor, in one chat.

mod ends;

use crate::ground::Home;
use crate::{home, plan, write};
use planwright_testkit::client::{ChatClient, last_id, of_type};
use reqwest::StatusCode;
use serde_json::{Value, json};

fn delegate(role: &str, task: &str) -> Value {
    json!({ "tool": "delegate", "args": { "role": role, "task": task } })
}

fn call(tool: &str, args: Value) -> Value {
    json!({ "tool": tool, "args": args })
}

/// A home with a chat's script: what the Commander says, and what its delegates say, by their tasks.
fn home_of(act: &Value, tasks: &Value) -> Home {
    home(&json!({ "act": act, "tasks": tasks }))
}

fn rests(event: &Value) -> bool {
    event["type"] == "run_finished" || event["data"]["state"] == "awaiting_answer"
}

/// The user has a Commander do something; everything until it rests.
async fn commanded(chat: &ChatClient<'_>) -> Vec<Value> {
    chat.say("Say goodbye").await;
    chat.events(0, rests).await
}

async fn answered(chat: &ChatClient<'_>, before: &[Value], answers: Value) -> Vec<Value> {
    let question = of_type(before, "question_pending").last().unwrap()["question_id"].clone();
    let (status, body) = chat.answer(&question, answers).await;
    assert_eq!(status, StatusCode::ACCEPTED, "{body}");
    chat.events(last_id(before), rests).await
}

/// Of each message that is not the user's: its role, and whether it belongs to a delegate.
fn badges(messages: &[Value], message_type: &str) -> Vec<(String, bool)> {
    let of_type = messages.iter().filter(|message| message["message_type"] == message_type && message["author"] == "assistant");
    of_type
        .map(|message| (message["agent_role"].as_str().unwrap_or_default().to_owned(), !message["metadata"]["delegation"].is_null()))
        .collect()
}

/// The results of the Commander's own calls: their texts.
fn reports(messages: &[Value]) -> Vec<&str> {
    let results = messages.iter().filter(|message| message["message_type"] == "tool_result");
    results.filter(|result| result["metadata"]["delegation"].is_null()).filter_map(|result| result["content"].as_str()).collect()
}

fn outcome(events: &[Value]) -> &Value {
    &of_type(events, "run_finished").last().unwrap()["outcome"]
}

#[tokio::test]
async fn a_commander_has_a_planner_plan_and_an_actor_carry_out_what_the_user_approved() {
    let home = home_of(
        &json!([
            { "text": "A plan first.", "calls": [delegate("planner", "Plan the farewell")], "told": ["You are operating in COMMANDER role"] },
            {
                "text": "Now the work.", "calls": [delegate("actor", "Write the farewell")],
                "told": ["The plan is ready.", "The user approved revision 1", "APPROVED EXECUTION PLAN"], "not_told": ["Let me look.", "Plan the farewell"],
            },
            { "text": "All is done.", "told": ["Written as planned."], "not_told": ["Writing now."] },
        ]),
        &json!({
            "Plan the farewell": [
                { "text": "Let me look.", "calls": [call("ls", json!({}))], "told": ["PLANNER role", "The Commander delegated one task to you", "Plan the farewell"], "not_told": ["Say goodbye", "delegate: "] },
                { "calls": [call("write_plan", plan("bye.txt"))] },
                { "calls": [call("exit_plan_mode", json!({ "plan_file_path": "/plans/say-goodbye.plan" }))] },
                { "text": "The plan is ready." },
            ],
            "Write the farewell": [
                { "text": "Writing now.", "calls": [write("/bye.txt", "Goodbye\n"), json!({ "tool": "update_step", "args": { "step_number": 1, "status": "done" } })], "told": ["ACTOR role", "APPROVED EXECUTION PLAN", "## Your task"], "not_told": ["A plan first."] },
                { "text": "Written as planned." },
            ],
        }),
    );
    let server = home.serve().await;
    let chat = server.chat(json!({ "agent_role": "commander" })).await;
    let asked = commanded(&chat).await;
    let card = of_type(&asked, "question_pending")[0].clone();
    assert_eq!((&card["kind"], &card["plan"]["goal"]), (&json!("plan_approval"), &json!("Say goodbye")), "{asked:#?}");
    assert_eq!(chat.show().await["pending_question"]["agent_role"], "planner");
    assert_eq!(home.file("bye.txt"), None);

    let events = answered(&chat, &asked, json!({ "approve": true })).await;
    assert_eq!(outcome(&events), "done", "{events:#?}");
    assert_eq!(home.file("bye.txt").as_deref(), Some("Goodbye\n"));
    assert!(home.file("plans/say-goodbye.plan").unwrap().contains("- [x] 1."));
    let shown = chat.show().await;
    assert_eq!((&shown["config"]["agent_role"], &shown["state"]), (&json!("commander"), &json!("idle")));
    let messages = chat.messages().await;
    let of = |role: &str, delegated| (role.to_owned(), delegated);
    assert_eq!(
        badges(&messages, "tool_call"),
        [
            of("commander", false),
            of("planner", true),
            of("planner", true),
            of("planner", true),
            of("commander", false),
            of("actor", true),
            of("actor", true)
        ]
    );
    assert_eq!(reports(&messages), ["The plan is ready.\n\nIts plan: /plans/say-goodbye.plan", "Written as planned."]);
}

/// A chat of a Commander under an approved plan that names `bye.txt`; everything until it rests.
async fn executed(chat: &ChatClient<'_>) -> Vec<Value> {
    let (status, body) = chat.server.post(&format!("{}/execute", chat.path), json!({ "plan_file": "/plans/bye.plan" })).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    chat.events(0, rests).await
}

const PLAN: &str = "# Say goodbye\n\n## Steps\n\n- [ ] 1. Write the file\n  files: bye.txt\n";

#[tokio::test]
async fn a_delegate_has_the_rights_of_its_role_and_is_held_to_the_approved_plan() {
    let home = home_of(
        &json!([
            { "calls": [delegate("planner", "Look around"), delegate("tester", "Test it"), delegate("actor", "Write it")] },
            { "text": "Done.", "told": ["Could not.", "Wrote what I may."], "not_told": ["The user did not approve this call"] },
        ]),
        &json!({
            "Look around": [{ "calls": [write("/bye.txt", "x\n"), delegate("actor", "Write it"), call("run", json!({ "command": "true" }))] }, { "text": "Could not." }],
            "Write it": [{ "calls": [delegate("actor", "Look around"), write("/bye.txt", "Goodbye\n"), write("/other.txt", "x\n")] }, { "text": "Wrote what I may.", "told": ["The user did not approve this call"] }],
        }),
    );
    home.put("plans/bye.plan", PLAN);
    let server = home.serve().await;
    let chat = server.chat(json!({ "agent_role": "commander" })).await;
    let asked = executed(&chat).await;
    assert_eq!(of_type(&asked, "question_pending")[0]["call"]["args"]["path"], "/other.txt", "{asked:#?}");
    let events = answered(&chat, &asked, json!({ "decision": "deny" })).await;
    assert_eq!(outcome(&events), "done", "{events:#?}");

    let all = [asked, events].concat();
    let codes: Vec<&str> = of_type(&all, "tool_result").iter().map(|result| result["error"]["code"].as_str().unwrap_or("done")).collect();
    let (blocked, lacking) = ("TOOL_BLOCKED_BY_MODE", "TOOL_NOT_PERMITTED");
    assert_eq!(codes, [blocked, blocked, blocked, "done", lacking, lacking, "done", "APPROVAL_DENIED", "done"]);
    let by: Vec<&Value> = of_type(&all, "violation").iter().map(|violation| &violation["agent_role"]).collect();
    assert_eq!(by, ["planner", "planner", "planner", "commander", "actor"]);
    assert_eq!((home.file("bye.txt").as_deref(), home.file("other.txt")), (Some("Goodbye\n"), None));
    let adherence = server.get(&format!("{}/audit/adherence", chat.path.split("/chats").next().unwrap())).await;
    let counted = |role: &str| adherence.as_array().unwrap().iter().find(|row| row["agent_role"] == role).cloned().unwrap_or_default();
    assert_eq!((counted("planner")["calls"].as_u64(), counted("actor")["calls"].as_u64()), (Some(3), Some(3)), "{adherence}");
}

/// A Commander whose Actor deletes a file.
fn deletes(then: Value) -> Home {
    let home = home_of(
        &json!([{ "calls": [delegate("actor", "Clean up")] }, { "text": "Done.", "told": ["Cleaned"], "not_told": ["Leave it"] }]),
        &json!({ "Clean up": [{ "calls": [call("rm", json!({ "path": "/old.txt" }))] }, then] }),
    );
    home.put("old.txt", "old\n");
    home
}

#[tokio::test]
async fn a_delegate_s_deletion_asks_the_user_and_the_answer_decides() {
    for (decision, then, is_left) in [
        ("approve", json!({ "text": "Cleaned up.", "told": ["Deleted"] }), false),
        ("deny", json!({ "text": "Cleaned nothing.", "told": ["The user did not approve this call"] }), true),
    ] {
        let home = deletes(then);
        let server = home.serve().await;
        let chat = server.chat(json!({ "agent_role": "commander" })).await;
        let asked = commanded(&chat).await;
        let question = of_type(&asked, "question_pending")[0].clone();
        assert_eq!((&question["kind"], &question["severity"]), (&json!("tool_approval"), &json!("critical")));
        // Nobody but the user has a word: the Commander's call waits.
        assert_eq!(of_type(&asked, "tool_result").len(), 0);
        assert!(home.file("old.txt").is_some());
        let events = answered(&chat, &asked, json!({ "decision": decision })).await;
        assert_eq!(outcome(&events), "done", "{decision}: {events:#?}");
        assert_eq!(home.file("old.txt").is_some(), is_left, "{decision}");
    }
}

#[tokio::test]
async fn words_in_place_of_an_answer_are_read_by_the_delegate_that_asked() {
    let home = deletes(json!({ "text": "Cleaned nothing.", "told": ["Leave it", "The user did not approve this call"] }));
    let server = home.serve().await;
    let chat = server.chat(json!({ "agent_role": "commander" })).await;
    let asked = commanded(&chat).await;
    chat.say("Leave it").await;
    let events = chat.events(last_id(&asked), rests).await;
    assert_eq!(of_type(&events, "question_resolved")[0]["outcome"], "superseded");
    assert_eq!(outcome(&events), "done", "{events:#?}");
    assert!(home.file("old.txt").is_some());
}

#[tokio::test]
async fn a_delegate_s_question_outlives_a_kill_and_its_answer_reaches_the_delegate_alone() {
    let ask = json!({ "questions": [{ "name": "word", "question": "Which word?", "schema": { "type": "string" } }] });
    let home = home_of(
        &json!([{ "calls": [delegate("actor", "Greet")] }, { "text": "Done.", "told": ["Asked and heard."], "not_told": ["Salut"] }]),
        &json!({ "Greet": [{ "calls": [call("ask_user", ask)] }, { "text": "Asked and heard.", "told": ["Salut"] }] }),
    );
    let server = home.serve().await;
    let chat = server.chat(json!({ "agent_role": "commander" })).await;
    let asked = commanded(&chat).await;
    let path = chat.path.clone();
    server.kill().await;
    let server = home.serve().await;
    let chat = server.reopened(&path);
    let events = answered(&chat, &asked, json!({ "word": "Salut" })).await;
    assert_eq!(outcome(&events), "done", "{events:#?}");
}

#[tokio::test]
async fn what_the_user_writes_while_a_delegate_works_is_read_by_the_commander() {
    let home = home_of(
        &json!([{ "calls": [delegate("actor", "Wait")] }, { "text": "Done.", "told": ["In French, please", "Waited."] }]),
        &json!({ "Wait": [{ "text": "one two three four five", "delay_ms": 100, "calls": [write("/a.txt", "a\n")] }, { "text": "Waited.", "not_told": ["In French, please"] }] }),
    );
    let server = home.serve().await;
    let chat = server.chat(json!({ "agent_role": "commander" })).await;
    chat.say("Go").await;
    chat.events(0, |event| event["type"] == "text_delta").await;
    chat.say("In French, please").await;
    let events = chat.run_to_end(0).await;
    assert_eq!(outcome(&events), "done", "{events:#?}");
}

#[tokio::test]
async fn what_a_delegate_was_saying_when_it_was_cut_off_is_kept_as_its_own_words() {
    let home = home_of(
        &json!([{ "calls": [delegate("actor", "Talk")] }, { "text": "I see.", "not_told": ["half a sentence"] }]),
        &json!({ "Talk": [{ "text": "This is half a sentence that goes on and on", "delay_ms": 100 }] }),
    );
    let server = home.serve().await;
    let chat = server.chat(json!({ "agent_role": "commander" })).await;
    chat.say("Go").await;
    chat.events(0, |event| event["type"] == "text_delta" && event["data"]["text"] == "sentence ").await;
    assert_eq!(server.get(&format!("{}/snapshot", chat.path)).await["partial"]["agent_role"], "actor");
    assert_eq!(chat.post("stop").await.0, StatusCode::OK);
    let messages = chat.messages().await;
    let cut_off = messages.iter().find(|message| message["content"].as_str().unwrap().contains("half a sentence")).unwrap();
    assert_eq!((&cut_off["agent_role"], &cut_off["metadata"]["status"]), (&json!("actor"), &json!("interrupted")));
    let events = chat.run_to_end(0).await;
    chat.say("Well?").await;
    assert_eq!(outcome(&chat.run_to_end(last_id(&events)).await), "done", "the Commander did not say it");
}
