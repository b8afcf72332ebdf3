//! Chats that decide by their first message whether to plan first.

use crate::ground::Home;
use crate::{home, plan, write};
use planwright_testkit::client::{last_id, of_type};
use serde_json::{Value, json};

fn auto() -> Home {
    let home = home(&json!({
        "plan": [{ "calls": [{ "tool": "write_plan", "args": plan("bye.txt") }] }, { "text": "Ready." }],
        "act": [{ "calls": [write("/bye.txt", "Goodbye\n")] }, { "text": "Done." }],
        "repeat": true,
    }));
    home.put("../.config/planwright/config.toml", "[chat]\ndefault_mode = \"auto\"\n");
    home
}

fn switches(events: &[Value]) -> Vec<(String, String)> {
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    of_type(events, "mode_changed").iter().map(|change| (word(&change["agent_role"]), word(&change["by"]))).collect()
}

#[tokio::test]
async fn with_auto_a_simple_fix_begins_in_act_mode_and_all_else_in_plan_mode() {
    let home = auto();
    let server = home.serve().await;
    for (words, begins_in) in [
        ("Fix the typo in bye.txt", "act"),
        ("修正 bye.txt 里的错别字", "act"),
        ("Fix the typo in every file", "plan"),
        ("Implement user authentication", "plan"),
        ("重构登录模块", "plan"),
    ] {
        let chat = server.chat(json!({})).await;
        assert_eq!(chat.show().await["config"]["agent_mode"], "plan", "plan until the first message");
        let _ = std::fs::remove_file(home.workspace().join("bye.txt"));
        chat.say(words).await;
        let events = chat.run_to_end(0).await;
        assert_eq!(chat.show().await["config"]["agent_mode"], begins_in, "{words}");
        let expected: &[(String, String)] = if begins_in == "act" { &[("actor".to_owned(), "auto".to_owned())] } else { &[] };
        assert_eq!(switches(&events), expected, "{words}");
        assert_eq!(home.file("bye.txt").is_some(), begins_in == "act", "{words}");
        // Only the first message decides.
        chat.say("Fix the typo in README.md").await;
        let more = chat.run_to_end(last_id(&events)).await;
        assert!(switches(&more).is_empty(), "{words}");
    }
    let entered = server.get("/audit?kind=mode_entered&role=actor").await;
    assert_eq!((entered.as_array().unwrap().len(), &entered[0]["details"]["by"]), (2, &json!("auto")));
}

#[tokio::test]
async fn with_auto_a_mode_that_the_user_chose_stays() {
    let home = auto();
    let server = home.serve().await;
    let asked_for = server.chat(json!({ "mode": "plan" })).await;
    let switched = server.chat(json!({})).await;
    switched.patch(json!({ "agent_role": "reviewer" })).await;
    let back = server.chat(json!({})).await;
    back.patch(json!({ "mode": "build" })).await;
    back.patch(json!({ "mode": "plan" })).await;
    for chat in [&asked_for, &switched, &back] {
        chat.say("Fix the typo in bye.txt").await;
        chat.run_to_end(0).await;
        assert_eq!(chat.show().await["config"]["agent_mode"], "plan");
    }
    assert_eq!(home.file("bye.txt"), None);
}

#[tokio::test]
async fn a_chat_that_has_not_decided_yet_still_may_after_a_restart() {
    let home = auto();
    let server = home.serve().await;
    let path = server.chat(json!({})).await.path.clone();
    server.kill().await;
    let server = home.serve().await;
    let chat = server.reopened(&path);
    chat.say("Fix the typo in bye.txt").await;
    chat.run_to_end(0).await;
    assert_eq!(chat.show().await["config"]["agent_mode"], "act");
}
