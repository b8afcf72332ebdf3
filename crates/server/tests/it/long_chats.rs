//! Chats that grow beyond what their model takes.

use crate::ground::Home;
use crate::home;
use planwright_testkit::client::{last_id, of_type};
use serde_json::{Value, json};

/// A model that takes little and reads much.
fn reader() -> Home {
    let read = |offset: u32| json!({ "calls": [{ "tool": "read", "args": { "path": "/long.txt", "offset": offset } }] });
    let turns: Vec<Value> = (1..=6).map(read).chain([json!({ "text": "I have read it all." })]).collect();
    let home = home(&json!({
        "turns": turns, "repeat": true, "context_tokens": 8000,
        "summary": { "text": "Six parts of the file are to be read.", "usage": { "input_tokens": 5, "output_tokens": 7 } }
    }));
    home.put("long.txt", &"a line of a long file\n".repeat(300));
    home
}

fn summaries(messages: &[Value]) -> Vec<&Value> {
    messages.iter().filter(|message| message["metadata"]["compaction"].is_object()).collect()
}

#[tokio::test]
async fn a_chat_that_grows_too_long_is_summed_up_and_goes_on_to_its_end() {
    let home = reader();
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    chat.say("Read all of it, and never touch the database.").await;
    let events = chat.run_to_end(0).await;
    assert_eq!(of_type(&events, "run_finished")[0]["outcome"], "done");
    let messages = chat.messages().await;
    let results = messages.iter().filter(|message| message["message_type"] == "tool_result").count();
    assert_eq!(results, 6, "each call was made once");
    let summaries = summaries(&messages);
    assert!((1..6).contains(&summaries.len()), "{}", summaries.len());
    for part in ["never touch the database", "Six parts of the file are to be read."] {
        assert!(summaries[0]["content"].as_str().unwrap().contains(part), "{}", summaries[0]);
    }
    let view = chat.show().await;
    assert!(view["usage"]["output_tokens"].as_u64().unwrap() >= 7, "{view}");
}

#[tokio::test]
async fn a_chat_is_summed_up_on_demand_and_not_in_the_middle_of_work() {
    let home = home(&json!({ "turns": [{ "text": "Hello." }, { "text": "Slow answer.", "delay_ms": 300 }], "repeat": true }));
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    chat.say("Hi").await;
    let events = chat.run_to_end(0).await;
    assert_eq!(chat.post("compact").await.0, 200);
    let more = chat.run_to_end(last_id(&events)).await;
    assert_eq!(of_type(&more, "run_finished")[0]["outcome"], "done");
    assert_eq!(summaries(&chat.messages().await).len(), 1);
    chat.say("Again").await;
    let (status, body) = chat.post("compact").await;
    assert_eq!((status.as_u16(), &body["error"]["code"]), (409, &json!("CONFLICT")));
}

#[tokio::test]
async fn a_chat_tells_what_is_in_the_context_and_how_full_it_is() {
    let plan = json!({ "goal": "Copy the file", "steps": [{ "step_number": 1, "action": "Copy it", "files": ["copy.txt"] }] });
    let home = home(&json!({
        "plan": [
            { "text": "I look.", "calls": [{ "tool": "read", "args": { "path": "/long.txt" } }, { "tool": "write_plan", "args": plan }] },
            { "text": "Please approve.", "usage": { "input_tokens": 3000, "output_tokens": 500 } },
        ],
        "act": [{ "text": "Done." }], "context_tokens": 50_000, "summary": { "text": "A file is to be copied." },
    }));
    home.put("long.txt", &"a line of a long file\n".repeat(300));
    home.put("AGENTS.md", "Be brief.");
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    let context = async || server.get(&format!("{}/context", chat.path)).await;
    let part = |context: &Value, name: &str| {
        let parts = context["parts"].as_array().unwrap();
        parts.iter().find(|part| part["part"] == name).map(|part| (part["tokens"].as_u64().unwrap(), part["count"].as_u64().unwrap()))
    };
    let empty = context().await;
    assert_eq!((&empty["limit"], &empty["used"], &empty["can_compact"]), (&json!(50_000), &json!(0), &json!(false)), "{empty}");
    assert!(part(&empty, "prompt").unwrap().0 > 100 && part(&empty, "tools").unwrap().1 > 3 && part(&empty, "words").is_none(), "{empty}");

    chat.say("Copy it").await;
    let planning = chat.run_to_end(0).await;
    let planned = context().await;
    assert_eq!((&planned["used"], &planned["can_compact"]), (&json!(3500), &json!(true)));
    let counts = ["instructions", "words", "replies", "calls", "results"].map(|name| part(&planned, name).unwrap().1);
    assert_eq!(counts, [1, 1, 2, 2, 2], "{planned}");
    assert!(part(&planned, "results").unwrap().0 > 2000 && part(&planned, "plan").is_none(), "{planned}");

    assert_eq!(chat.post("execute").await.0, 200);
    let acting = chat.run_to_end(last_id(&planning)).await;
    assert_eq!(part(&context().await, "plan").unwrap().1, 1, "only an approved plan is told");
    assert_eq!(chat.post("compact").await.0, 200);
    chat.run_to_end(last_id(&acting)).await;
    let short = context().await;
    assert_eq!((&short["used"], &short["can_compact"]), (&json!(0), &json!(false)), "{short}");
    assert!(part(&short, "summary").is_some() && part(&short, "results").is_none(), "{short}");
}

#[tokio::test]
async fn the_approved_plan_and_the_users_words_are_told_on_every_request_also_after_summing_up() {
    let plan = json!({ "goal": "Copy the file", "steps": [{ "step_number": 1, "action": "Copy it", "files": ["copy.txt"] }] });
    let told = ["## APPROVED EXECUTION PLAN", "Copy it", "never touch the database"];
    let read = |offset: u32| json!({ "calls": [{ "tool": "read", "args": { "path": "/long.txt", "offset": offset } }], "told": told });
    let act: Vec<Value> = (1..=6).map(read).chain([json!({ "text": "Done.", "told": told })]).collect();
    let home = home(&json!({
        "plan": [{ "calls": [{ "tool": "write_plan", "args": plan }] }, { "text": "Please approve.", "not_told": ["## APPROVED EXECUTION PLAN"] }],
        "act": act, "context_tokens": 8000,
    }));
    home.put("long.txt", &"a line of a long file\n".repeat(300));
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    chat.say("Copy it, and never touch the database.").await;
    let planned = chat.run_to_end(0).await;
    chat.post("execute").await;
    let events = chat.run_to_end(last_id(&planned)).await;
    assert_eq!(of_type(&events, "run_finished")[0]["outcome"], "done", "{:?}", of_type(&events, "run_finished"));
    assert!(!summaries(&chat.messages().await).is_empty());
}

#[tokio::test]
async fn instructions_of_the_workspace_are_told_and_those_of_a_folder_when_the_chat_comes_there() {
    let home = home(&json!({ "turns": [
        { "text": "Looking.", "calls": [{ "tool": "read", "args": { "path": "/web/src/a.ts" } }], "told": ["Use tabs.", "### /AGENTS.md", "Today is"], "not_told": ["Use spaces."] },
        { "text": "Done.", "told": ["Use tabs.", "Use spaces.", "### /web/CLAUDE.md"], "not_told": ["Use both."] },
    ] }));
    home.put("AGENTS.md", "Use tabs.");
    // Counts only where there is no other.
    home.put("CLAUDE.md", "Use both.");
    home.put("web/CLAUDE.md", "Use spaces.");
    home.put("web/src/a.ts", "export {}\n");
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    chat.say("Look").await;
    let events = chat.run_to_end(0).await;
    assert_eq!(of_type(&events, "run_finished")[0]["outcome"], "done", "{:?}", of_type(&events, "run_finished"));
}

#[tokio::test]
async fn a_message_sent_while_the_chat_is_summed_up_is_read_also_after_a_kill() {
    let summary = json!({ "text": "a b c d e f g h i j", "delay_ms": 300 });
    let home = home(&json!({ "turns": [{ "text": "Hello." }, { "text": "Again.", "told": ["Still there?"] }], "summary": summary }));
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    chat.say("Hi").await;
    let last = last_id(&chat.run_to_end(0).await);
    assert_eq!(chat.post("compact").await.0, 200);
    chat.say("Still there?").await;
    let path = chat.path.clone();
    server.kill().await;
    let server = home.serve().await;
    let chat = server.reopened(&path);
    let events = chat.run_to_end(last).await;
    assert_eq!(of_type(&events, "run_finished")[0]["outcome"], "done", "{:?}", of_type(&events, "run_finished"));
    assert_eq!(chat.show().await["state"], "idle");
}
