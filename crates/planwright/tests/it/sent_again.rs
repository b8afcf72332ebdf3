//! Whatever changes something can be sent again under its `Idempotency-Key`: done once, answered alike, also over a restart.

use crate::{home, plan, write};
use planwright_testkit::server::Server;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

type Sent = (Method, String, Option<Value>, &'static str);

async fn send(server: &Server, (method, path, body, key): &Sent) -> (StatusCode, Value) {
    let request = server.client().request(method.clone(), format!("{}/api/v1{path}", server.base)).bearer_auth(&server.token);
    let request = request.header("idempotency-key", *key);
    let request = if let Some(body) = body { request.json(body) } else { request };
    let response = request.send().await.unwrap();
    (response.status(), response.json().await.unwrap_or(Value::Null))
}

fn script() -> Value {
    json!({
        "plan": [{ "text": "A draft.", "calls": [{ "tool": "write_plan", "args": plan("bye.txt") }] }, { "text": "Here it is." }],
        "act": [{ "text": "Working.", "calls": [write("/bye.txt", "Goodbye\n")] }, { "text": "Done." }],
    })
}

#[tokio::test]
async fn every_change_is_made_once_under_its_key_and_answered_alike_over_a_restart() {
    let home = home(&script());
    let server = home.serve().await;
    let workspace = server.get("/workspaces").await[0]["id"].as_str().unwrap().to_owned();
    let chats = format!("/workspaces/{workspace}/chats");
    let mut made: Vec<(Sent, (StatusCode, Value))> = Vec::new();

    let create: Sent = (Method::POST, chats.clone(), Some(json!({ "title": "One" })), "create");
    let created = send(&server, &create).await;
    assert_eq!(created.0, StatusCode::CREATED, "{}", created.1);
    let path = format!("{chats}/{}", created.1["id"].as_str().unwrap());
    made.push((create, created));
    let chat = server.reopened(&path);
    let said = chat.say("Say goodbye").await;
    let events = chat.run_to_end(0).await;

    let to_chat = |method: Method, what: &str, body: Option<Value>, key: &'static str| (method, format!("{path}{what}"), body, key);
    let shown = server.get(&format!("{path}/plan")).await;
    let mut edited = shown["plan"].clone();
    edited["goal"] = json!("Say farewell");
    let one_after_the_other = [
        to_chat(Method::PATCH, "", Some(json!({ "title": "Two" })), "title"),
        to_chat(Method::PUT, "/plan", Some(json!({ "content": edited, "base_sha256": shown["sha256"] })), "edit"),
        to_chat(Method::POST, "/execute", Some(json!({})), "execute"),
    ];
    for sent in one_after_the_other {
        let answer = send(&server, &sent).await;
        assert_eq!(answer.0, StatusCode::OK, "{sent:?}: {}", answer.1);
        made.push((sent, answer));
    }
    let last = planwright_testkit::server::last_id(&events);
    chat.events(last, |event| event["type"] == "run_finished" && event["data"]["outcome"] == "done").await;
    assert_eq!(home.file("bye.txt").as_deref(), Some("Goodbye\n"));
    let tool = json!({ "tool": "write", "args": { "path": "/mine.txt", "content": "first" }, "config": { "plan_mode": false } });
    let rest = [
        to_chat(Method::POST, "/stop", None, "stop"),
        to_chat(Method::POST, "/revert", Some(json!({ "message_id": said["id"] })), "revert"),
        to_chat(Method::POST, "/fork", Some(json!({ "message_id": said["id"] })), "fork"),
        (Method::POST, format!("/workspaces/{workspace}/tools"), Some(tool), "tool"),
        (Method::PATCH, format!("/workspaces/{workspace}"), Some(json!({ "name": "named" })), "name"),
    ];
    for sent in rest {
        let answer = send(&server, &sent).await;
        assert!(answer.0.is_success(), "{sent:?}: {} {}", answer.0, answer.1);
        made.push((sent, answer));
    }
    assert_eq!(home.file("bye.txt"), None, "taken back");
    assert_eq!(chat.patch(json!({ "title": "Three" })).await.0, StatusCode::OK);
    home.put("mine.txt", "changed since");
    let before = (chat.messages().await, server.get(&chats).await);

    for sent in &made {
        assert_eq!(send(&server, &sent.0).await, sent.1, "{:?}", sent.0);
    }
    server.kill().await;
    let server = home.serve().await;
    for sent in &made {
        assert_eq!(send(&server, &sent.0).await, sent.1, "after a restart: {:?}", sent.0);
    }
    let chat = server.reopened(&path);
    assert_eq!((chat.messages().await, server.get(&chats).await), before, "nothing was done again");
    assert_eq!(home.file("mine.txt").as_deref(), Some("changed since"));

    for (other, key) in [("/stop", "title"), ("/revert", "stop")] {
        let body = (other == "/revert").then(|| json!({ "message_id": said["id"] }));
        let (status, error) = send(&server, &(Method::POST, format!("{path}{other}"), body, key)).await;
        assert_eq!((status, &error["error"]["code"]), (StatusCode::CONFLICT, &json!("CONFLICT")), "{other} under the key of {key}");
    }
    let other = (Method::POST, chats.clone(), Some(json!({ "title": "Another" })), "create");
    assert_eq!(send(&server, &other).await.0, StatusCode::CONFLICT);
    let refused = (Method::POST, chats, Some(json!({ "title": "" })), "refused");
    assert_eq!(send(&server, &refused).await.0, StatusCode::UNPROCESSABLE_ENTITY);
    let mended = (refused.0, refused.1, Some(json!({ "title": "Good" })), refused.3);
    assert_eq!(send(&server, &mended).await.0, StatusCode::CREATED, "what was refused is not remembered");
    let deleted = (Method::DELETE, path, None, "delete");
    for _ in 0..2 {
        assert_eq!(send(&server, &deleted).await.0, StatusCode::NO_CONTENT);
    }
}
