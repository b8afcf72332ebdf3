//! Helpers of a Planner, killed in the middle.

use super::{call, outcome, reports};
use crate::home;
use serde_json::json;

#[tokio::test]
async fn helpers_killed_in_the_middle_go_on_after_the_restart_and_report_once() {
    for point in
        ["intent_stored:1", "model_asked:3", "reply_received:4", "reply_stored:3", "result_stored:2", "reply_stored:9", "result_stored:5"]
    {
        let look = |word: &str| {
            json!([
                { "text": format!("Looking for {word}."), "calls": [call("ls", json!({}))], "told": ["You are a helper"], "not_told": ["Plan it"] },
                { "text": format!("Found {word}.") },
            ])
        };
        let names = ["alpha", "beta", "gamma", "delta"];
        let tasks: serde_json::Map<_, _> = names.iter().map(|name| (format!("Find {name}"), look(name))).collect();
        let asked: Vec<&String> = names.iter().filter_map(|name| tasks.keys().find(|task| task.ends_with(name))).collect();
        let home = home(&json!({
            "plan": [
                { "calls": [call("explore", json!({ "tasks": asked }))] },
                { "text": "Done.", "told": ["Found alpha.", "Found beta.", "Found gamma.", "Found delta."], "not_told": ["Looking for"] },
            ],
            "tasks": tasks,
        }));
        let server = home.serve_with(&[("PLANWRIGHT_CRASH_POINT", point)]).await;
        let chat = server.chat(json!({ "agent_role": "planner" })).await;
        let path = chat.path.clone();
        chat.say("Plan it").await;
        assert!(!server.ended().await, "the process should have died at {point}");
        let server = home.serve().await;
        let chat = server.reopened(&path);
        let events = chat.run_to_end(0).await;
        assert_eq!(outcome(&events), "done", "{point}: {events:#?}");
        let messages = chat.messages().await;
        assert_eq!(messages.iter().filter(|message| message["metadata"]["task"] == true).count(), 4, "{point}");
        let count = |kind: &str| messages.iter().filter(|message| message["message_type"] == kind).count();
        assert_eq!((count("tool_call"), count("tool_result")), (5, 5), "{point}: {messages:#?}");
        let [report] = reports(&messages)[..] else { panic!("{point}: {messages:#?}") };
        assert!(names.iter().all(|name| report.matches(&format!("Found {name}.")).count() == 1), "{point}: {report}");
    }
}
