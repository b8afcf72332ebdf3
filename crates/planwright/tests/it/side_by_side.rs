//! Calls of one reply that only read are made side by side.

use crate::home;
use serde_json::{Value, json};

fn read(path: &str) -> Value {
    json!({ "tool": "read", "args": { "path": path } })
}

#[tokio::test]
async fn reads_that_a_crash_cut_off_are_made_again_and_keep_their_order() {
    for point in ["call_decided", "effect_done", "result_stored"] {
        let names: Vec<String> = (0..20).map(|number| format!("/file-{number}")).collect();
        let home = home(&json!({ "turns": [{ "calls": names.iter().map(|name| read(name)).collect::<Vec<_>>() }, { "text": "Done." }] }));
        for name in &names {
            home.put(&name[1..], &format!("this is {name}\n"));
        }
        let server = home.serve_with(&[("PLANWRIGHT_CRASH_POINT", point)]).await;
        let chat = server.chat(json!({})).await;
        let path = chat.path.clone();
        server.post_unchecked(&format!("{path}/messages"), &json!({ "content": "Go" })).await;
        assert!(!server.ended().await, "the process should have died at {point}");
        let server = home.serve().await;
        let chat = server.reopened(&path);
        chat.run_to_end(0).await;
        let messages = chat.messages().await;
        let results: Vec<&Value> = messages.iter().filter(|message| message["message_type"] == "tool_result").collect();
        assert_eq!(results.len(), names.len(), "{point}");
        for (result, name) in results.iter().zip(&names) {
            assert!(result["content"].as_str().unwrap().contains(&format!("this is {name}\n")), "{point}: {result}");
        }
    }
}
