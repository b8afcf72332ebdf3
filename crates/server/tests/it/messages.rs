//! `…/messages` and what is done with single ones: sent once, found, taken back, gone back to.

use crate::ground::Server;
use crate::home;
use planwright_testkit::client::{ChatClient, last_id, of_type};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

async fn send(server: &Server, chat: &ChatClient<'_>, key: &str, body: &Value) -> (StatusCode, Value) {
    let request = server.client().post(format!("{}/api/v1{}/messages", server.base, chat.path)).bearer_auth(&server.token);
    let response = server.send(request.header("idempotency-key", key).json(body)).await;
    (response.status(), response.json().await.unwrap())
}

#[tokio::test]
async fn a_message_sent_again_under_its_key_is_stored_once_also_over_a_restart() {
    let home = home(&json!({ "turns": [{ "text": "Hello" }], "repeat": true }));
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    let (path, body) = (chat.path.clone(), json!({ "content": "Hi", "metadata": { "from": "script" } }));
    let (status, first) = send(&server, &chat, "key-1", &body).await;
    assert_eq!(status, StatusCode::ACCEPTED, "{first}");
    assert_eq!(send(&server, &chat, "key-1", &body).await, (StatusCode::ACCEPTED, first.clone()));
    let (status, error) = send(&server, &chat, "key-1", &json!({ "content": "Other" })).await;
    assert_eq!((status, &error["error"]["code"]), (StatusCode::CONFLICT, &json!("CONFLICT")));
    chat.run_to_end(0).await;
    server.kill().await;
    let server = home.serve().await;
    let chat = server.reopened(&path);
    assert_eq!(send(&server, &chat, "key-1", &body).await, (StatusCode::ACCEPTED, first));
    assert_eq!(send(&server, &chat, "key-2", &body).await.0, StatusCode::ACCEPTED);
    let said = chat.messages().await.iter().filter(|message| message["author"] == "user").count();
    assert_eq!(said, 2, "once under each key");
    assert_eq!(send(&server, &chat, "a b", &body).await.0, StatusCode::UNPROCESSABLE_ENTITY);
    // A refused request leaves no key behind.
    assert_eq!(send(&server, &chat, "key-3", &json!({ "content": " " })).await.0, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(send(&server, &chat, "key-3", &body).await.0, StatusCode::ACCEPTED);
}

#[tokio::test]
async fn an_answer_sent_again_under_its_key_is_answered_alike() {
    let question = json!({ "questions": [{ "name": "colour", "question": "Which?", "schema": { "type": "string" } }] });
    let home = home(&json!({ "turns": [{ "calls": [{ "tool": "ask_user", "args": question }] }, { "text": "Thanks" }] }));
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    chat.say("Paint").await;
    let events = chat.events(0, |event| event["data"]["state"] == "awaiting_answer").await;
    let asked = events.iter().find(|event| event["type"] == "question_pending").unwrap();
    let body =
        json!({ "metadata": { "question_answer": { "question_id": asked["data"]["question_id"], "answers": { "colour": "red" } } } });
    let (status, first) = send(&server, &chat, "k", &body).await;
    assert_eq!(status, StatusCode::ACCEPTED, "{first}");
    chat.run_to_end(0).await;
    assert_eq!(send(&server, &chat, "k", &body).await, (StatusCode::ACCEPTED, first));
    assert_eq!(send(&server, &chat, "other", &body).await.0, StatusCode::CONFLICT);
}

#[tokio::test]
async fn a_queued_message_is_in_the_snapshot_and_can_be_taken_back_until_it_is_read() {
    let home = home(
        &json!({ "turns": [{ "text": "One two three four five six seven eight", "delay_ms": 150 }, { "text": "Now the other", "not_told": ["Forget"] }], "repeat": true }),
    );
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    let read = chat.say("Speak").await;
    chat.events(0, |event| event["type"] == "text_delta").await;
    let (back, kept) = (chat.say("Forget this").await, chat.say("Keep this").await);
    let snapshot = server.get(&format!("{}/snapshot", chat.path)).await;
    assert_eq!(snapshot["queued"], json!([back["id"], kept["id"]]));
    assert!(snapshot["partial"]["text"].as_str().unwrap().starts_with("One"), "{snapshot}");
    let queue = |message: &Value| format!("{}/queue/{}", chat.path, message["id"].as_str().unwrap());
    let page = server.get(&format!("{}/messages?limit=2", chat.path)).await;
    assert_eq!(page[1]["id"], back["id"]);
    assert_eq!(server.request(Method::DELETE, &queue(&back), None).await.0, StatusCode::NO_CONTENT);
    let older = server.get(&format!("{}/messages?before={}", chat.path, back["id"].as_str().unwrap())).await;
    assert_eq!(older[0]["id"], read["id"], "a page that ends with what is gone has a next one: {older}");
    assert_eq!(server.request(Method::DELETE, &queue(&back), None).await.0, StatusCode::NOT_FOUND);
    assert_eq!(server.request(Method::DELETE, &queue(&read), None).await.0, StatusCode::CONFLICT);
    let events = chat.run_to_end(0).await;
    assert!(events.iter().any(|event| event["type"] == "message_deleted" && event["data"]["message_id"] == back["id"]));
    assert_eq!(events.last().unwrap()["data"]["outcome"], "done", "the model was not told");
    let texts: Vec<Value> =
        chat.messages().await.into_iter().filter(|message| message["author"] == "user").map(|message| message["content"].clone()).collect();
    assert_eq!(texts, ["Speak", "Keep this"]);
    assert_eq!(server.request(Method::DELETE, &queue(&kept), None).await.0, StatusCode::CONFLICT);
    assert_eq!(server.get(&format!("{}/snapshot", chat.path)).await["queued"], json!([]));
}

#[tokio::test]
async fn a_long_result_is_cut_in_lists_and_whole_by_itself_and_texts_are_found() {
    let home =
        home(&json!({ "turns": [{ "calls": [{ "tool": "read", "args": { "path": "/long.txt" } }] }, { "text": "Read the Needle." }] }));
    home.put("long.txt", &"a line of some length\n".repeat(1500));
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    chat.say("Read it").await;
    chat.run_to_end(0).await;
    let messages = chat.messages().await;
    let result = messages.iter().find(|message| message["message_type"] == "tool_result").unwrap();
    let size = result["metadata"]["body_size"].as_u64().unwrap();
    assert!(result["content"].as_str().unwrap().len() < 20_000 && size > 30_000, "{size}");
    let body = server.get(&format!("{}/messages/{}/body", chat.path, result["id"].as_str().unwrap())).await;
    assert_eq!(body["content"].as_str().unwrap().len() as u64, size);
    let found = server.get(&format!("{}/search?q=nEEdle", chat.path)).await;
    assert_eq!((found.as_array().unwrap().len(), &found[0]["content"]), (1, &json!("Read the Needle.")));
    assert_eq!(server.get(&format!("{}/search?q=%25", chat.path)).await, json!([]));
    for wrong in ["", "?q=", "?q=x&limit=0"] {
        assert_eq!(server.request(Method::GET, &format!("{}/search{wrong}", chat.path), None).await.0, StatusCode::UNPROCESSABLE_ENTITY);
    }
    let nothing = format!("{}/messages/0192a2b4-0000-7000-8000-000000000000/body", chat.path);
    assert_eq!(server.request(Method::GET, &nothing, None).await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_fork_has_what_was_said_before_and_goes_its_own_way() {
    let home = home(&json!({ "turns": [{ "text": "Reply one" }, { "text": "Reply two" }], "repeat": true }));
    let server = home.serve().await;
    let chat = server.chat(json!({ "title": "First", "agent_role": "reviewer" })).await;
    chat.say("One").await;
    chat.run_to_end(0).await;
    let second = chat.say("Two").await;
    chat.events(0, |event| event["data"]["message"]["content"] == "Reply two").await;
    let (status, fork) = server.post(&format!("{}/fork", chat.path), json!({ "message_id": second["id"] })).await;
    assert_eq!((status, &fork["title"], &fork["config"]["agent_role"]), (StatusCode::CREATED, &json!("First"), &json!("reviewer")));
    let other = server.reopened(&format!("/workspaces/{}/chats/{}", fork["workspace_id"].as_str().unwrap(), fork["id"].as_str().unwrap()));
    let texts =
        |messages: Vec<Value>| messages.into_iter().map(|message| message["content"].as_str().unwrap().to_owned()).collect::<Vec<_>>();
    assert_eq!(texts(other.messages().await), ["One", "Reply one"]);
    other.say("Three").await;
    let reply = other.events(0, |event| event["type"] == "run_finished").await;
    assert_eq!(reply.last().unwrap()["data"]["outcome"], "done");
    assert_eq!(texts(other.messages().await), ["One", "Reply one", "Three", "Reply two"]);
    assert_eq!(texts(chat.messages().await)[2], "Two", "the first chat is as it was");
    let nothing = json!({ "message_id": "0192a2b4-0000-7000-8000-000000000000" });
    assert_eq!(server.post(&format!("{}/fork", chat.path), nothing).await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn lists_of_chats_come_in_pages() {
    let home = home(&json!({ "turns": [{ "text": "Hello" }], "repeat": true }));
    let server = home.serve().await;
    for number in 0..5 {
        server.chat(json!({ "title": number.to_string() })).await;
    }
    let workspace = server.get("/workspaces").await[0]["id"].as_str().unwrap().to_owned();
    let (mut titles, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let from = cursor.as_ref().map(|cursor| format!("&cursor={cursor}")).unwrap_or_default();
        let url = format!("{}/api/v1/workspaces/{workspace}/chats?limit=2{from}", server.base);
        let response = server.send(server.client().get(url).bearer_auth(&server.token)).await;
        cursor = response.headers().get("x-next-cursor").map(|value| value.to_str().unwrap().to_owned());
        let page: Vec<Value> = response.json().await.unwrap();
        titles.extend(page.iter().map(|chat| chat["title"].as_str().unwrap().to_owned()));
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(titles, ["4", "3", "2", "1", "0"]);
    for wrong in ["cursor=x", "limit=0"] {
        assert_eq!(
            server.request(Method::GET, &format!("/workspaces/{workspace}/chats?{wrong}"), None).await.0,
            StatusCode::UNPROCESSABLE_ENTITY
        );
    }
}

#[tokio::test]
async fn a_run_that_failed_is_tried_again_without_the_message_said_twice_and_one_that_did_not_fail_is_not() {
    let failing = json!({ "text": "I was about to", "error": "PROVIDER_REJECTED" });
    let home = home(&json!({ "turns": [failing, { "text": "Now it works.", "told": ["asked to retry"] }] }));
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    chat.say("Have a look").await;
    let failed = chat.run_to_end(0).await;
    assert_eq!(of_type(&failed, "run_finished")[0]["outcome"], "failed", "{failed:#?}");
    let last_run = async || server.get(&format!("{}/snapshot", chat.path)).await["last_run"].clone();
    assert_eq!(last_run().await["error"]["code"], "PROVIDER_REJECTED", "told to who comes later, too");
    let (status, going_on) = chat.post("retry").await;
    assert_eq!((status, &going_on["state"]), (StatusCode::OK, &json!("thinking")), "{going_on}");
    let again = chat.run_to_end(last_id(&failed)).await;
    assert_eq!(of_type(&again, "run_finished")[0]["outcome"], "done", "{again:#?}");
    let messages = chat.messages().await;
    let said = |author: &str| messages.iter().filter(|message| message["author"] == author).count();
    assert_eq!((said("user"), said("system")), (1, 1), "{messages:#?}");
    assert_eq!(messages.last().unwrap()["content"], "Now it works.");
    assert_eq!(last_run().await, json!({ "outcome": "done" }));
    let (status, error) = chat.post("retry").await;
    assert_eq!((status, &error["error"]["code"]), (StatusCode::CONFLICT, &json!("CONFLICT")));
}

#[tokio::test]
async fn a_search_answers_with_excerpts_however_long_the_messages_are() {
    let home = home(&json!({ "turns": [{ "text": "Noted." }], "repeat": true }));
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    let long = format!("{}Needle{}", "ä ".repeat(30_000), " ö".repeat(30_000));
    chat.say(&long).await;
    chat.run_to_end(0).await;
    for path in [format!("{}/search?q=needle", chat.path), "/search?q=needle".to_owned()] {
        let found = server.get(&path).await;
        assert_eq!(found.as_array().unwrap().len(), 1, "{path}");
        let text = found.to_string();
        assert!(text.len() < 10_000 && text.contains("Needle"), "{path}: {} bytes", text.len());
        assert!(text.contains(&format!("\"body_size\":{}", long.len())), "{path}: {text}");
    }
}
