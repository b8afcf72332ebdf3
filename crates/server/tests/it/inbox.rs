//! The inbox: what needs the user, what runs, what is to be reviewed, what was done; pins, the archive and viewed files.

use crate::ground::Server;
use crate::home;
use planwright_testkit::client::{ChatClient, of_type};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

async fn ids(server: &Server, group: &str) -> Vec<Value> {
    server.get("/inbox").await[group].as_array().unwrap().iter().map(|chat| chat["id"].clone()).collect()
}

async fn id(chat: &ChatClient<'_>) -> Value {
    chat.show().await["id"].clone()
}

#[tokio::test]
async fn a_chat_goes_through_the_groups_of_the_inbox() {
    let home = home(&json!({ "act": [
        { "calls": [{ "tool": "write", "args": { "path": "/new.txt", "content": "new" } }, { "tool": "rm", "args": { "path": "/old.txt" } }],
          "usage": { "input_tokens": 1, "output_tokens": 1, "cached_tokens": 0, "cost": 0.5 } },
        { "text": "Done." },
    ] }));
    home.put("old.txt", "old");
    let server = home.serve().await;
    let chat = server.chat(json!({ "agent_role": "actor", "title": "Tidy up" })).await;
    assert_eq!(ids(&server, "recent").await, Vec::<Value>::new(), "nothing was said in it yet");
    chat.say("Go").await;
    let asked = chat.events(0, |event| event["type"] == "question_pending").await;
    let inbox = server.get("/inbox").await;
    let row = &inbox["needs_you"][0];
    assert_eq!((&row["title"], &row["cost"], &row["person"]), (&json!("Tidy up"), &json!(0.5), &Value::Null), "{inbox}");
    assert_eq!((&row["question"]["kind"], &row["question"]["severity"]), (&json!("tool_approval"), &json!("critical")));
    assert_eq!(row["question"]["call"]["effects"], json!([{ "effect": "delete", "path": "/old.txt" }]));
    assert!(row["question"]["call"].get("args").is_none(), "a row is short");

    let question = of_type(&asked, "question_pending")[0]["question_id"].clone();
    assert_eq!(chat.answer(&question, json!({ "decision": "approve" })).await.0, StatusCode::ACCEPTED);
    chat.run_to_end(0).await;
    let inbox = server.get("/inbox").await;
    let row = &inbox["to_review"][0];
    assert_eq!((&row["files"], &row["viewed"], &row["question"]), (&json!(2), &json!(0), &Value::Null), "{inbox}");

    let files = server.get(&format!("{}/changes?summary=true", chat.path)).await["total"]["files"].clone();
    for file in files.as_array().unwrap() {
        let body = json!({ "path": file["path"], "after_sha256": file["after"]["sha256"], "viewed": true });
        let (status, answer) = server.request(Method::PUT, &format!("{}/viewed", chat.path), Some(body)).await;
        assert_eq!(status, StatusCode::NO_CONTENT, "{answer}");
    }
    assert_eq!(server.get(&format!("{}/viewed", chat.path)).await.as_array().unwrap().len(), 2);
    assert_eq!((ids(&server, "to_review").await, ids(&server, "recent").await), (vec![], vec![id(&chat).await]));
    let wrong = json!({ "path": "/new.txt", "after_sha256": "0", "viewed": true });
    let (status, answer) = server.request(Method::PUT, &format!("{}/viewed", chat.path), Some(wrong)).await;
    assert_eq!((status, &answer["error"]["code"]), (StatusCode::NOT_FOUND, &json!("NOT_FOUND")));
}

#[tokio::test]
async fn a_chat_is_pinned_and_archived_without_becoming_newer_and_everybody_is_told() {
    let home = home(&json!({ "turns": [{ "text": "Yes." }], "repeat": true }));
    let server = home.serve().await;
    let (first, second) = (server.chat(json!({ "title": "First" })).await, server.chat(json!({ "title": "Second" })).await);
    for chat in [&first, &second] {
        chat.say("Go").await;
        chat.run_to_end(0).await;
    }
    let (one, two) = (id(&first).await, id(&second).await);
    assert_eq!(ids(&server, "recent").await, [two.clone(), one.clone()]);
    let before = first.show().await["updated_at"].clone();
    let (status, pinned) = first.patch(json!({ "pinned": true })).await;
    assert_eq!((status, &pinned["pinned"], &pinned["archived"]), (StatusCode::OK, &json!(true), &json!(false)), "{pinned}");
    assert_eq!((ids(&server, "recent").await, &first.show().await["updated_at"]), (vec![one.clone(), two.clone()], &before));
    first.patch(json!({ "archived": true })).await;
    let told = first.events(0, |event| event["data"]["archived"] == true).await;
    assert_eq!(of_type(&told, "chat_updated").last().unwrap()["pinned"], true);
    assert_eq!(ids(&server, "recent").await, std::slice::from_ref(&two));
    let chats = first.path.rsplit_once('/').unwrap().0;
    let listed = async |query: &str| -> Vec<Value> {
        server.get(&format!("{chats}?{query}")).await.as_array().unwrap().iter().map(|chat| chat["id"].clone()).collect()
    };
    assert_eq!(listed("archived=true").await, std::slice::from_ref(&one));
    assert_eq!(listed("archived=false&state=idle&title=SEC").await, [two]);
    assert_eq!(listed("title=nothing").await, Vec::<Value>::new());
    let path = first.path.clone();
    assert!(server.terminate().await);
    let row = home.serve().await.get(&path).await;
    assert_eq!((&row["pinned"], &row["archived"]), (&json!(true), &json!(true)), "after a restart");
    assert_eq!(row["id"], one);
}
