//! What the composer sends besides words: images, and the model and effort of a chat. And what is stored for people to look at.

use crate::ground::Server;
use crate::home;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use planwright_testkit::client::{ChatClient, of_type};
use reqwest::{Method, Response, StatusCode, header};
use serde_json::{Value, json};

/// One pixel.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

fn pixel() -> Vec<u8> {
    BASE64_STANDARD.decode(PIXEL).unwrap()
}

async fn upload(chat: &ChatClient<'_>, media_type: &str, bytes: Vec<u8>) -> (StatusCode, Value) {
    let url = format!("{}/api/v1{}/images", chat.server.base, chat.path);
    let request = chat.server.client().post(url).bearer_auth(&chat.server.token).header(header::CONTENT_TYPE, media_type);
    let response = chat.server.send(request.body(bytes)).await;
    (response.status(), response.json().await.unwrap_or_default())
}

async fn fetch(server: &Server, path: &str) -> Response {
    server.send(server.client().get(format!("{}/api/v1{path}", server.base)).bearer_auth(&server.token)).await
}

fn header_of(response: &Response, name: header::HeaderName) -> String {
    response.headers()[name].to_str().unwrap().to_owned()
}

/// Nothing of an image can run, whatever it is taken for.
fn check_image_headers(response: &Response) {
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(header_of(response, header::CONTENT_TYPE), "image/png");
    assert_eq!(header_of(response, header::X_CONTENT_TYPE_OPTIONS), "nosniff");
    assert_eq!(header_of(response, header::CONTENT_SECURITY_POLICY), "default-src 'none'; sandbox");
}

#[tokio::test]
async fn an_uploaded_image_is_named_in_a_message_and_reaches_the_model_and_the_history() {
    let script = json!({ "images": true, "plan": [{ "text": "A pixel.", "told": ["What is this?", "[image/png, 70 bytes]"] }] });
    let home = home(&script);
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    // The type follows from the bytes, not from the header.
    let (status, image) = upload(&chat, "image/jpeg", pixel()).await;
    assert_eq!(status, StatusCode::CREATED, "{image}");
    let body = json!({ "content": "What is this?", "images": [image["id"]] });
    let (status, answer) = server.post(&format!("{}/messages", chat.path), body).await;
    assert_eq!(status, StatusCode::ACCEPTED, "{answer}");
    assert_eq!(answer["message"]["metadata"]["images"], json!([{ "sha256": image["id"], "mime_type": "image/png", "size": 70 }]));
    let run = chat.run_to_end(0).await;
    assert_eq!(of_type(&run, "run_finished")[0]["outcome"], "done", "{run:#?}");
    let shown = fetch(&server, &format!("{}/images/{}", chat.path, image["id"].as_str().unwrap())).await;
    check_image_headers(&shown);
    assert_eq!(shown.bytes().await.unwrap(), pixel());
}

#[tokio::test]
async fn uploads_are_checked_by_content_and_size_and_belong_to_their_chat() {
    let home = home(&json!({ "images": true, "plan": [{ "text": "Yes." }], "repeat": true }));
    let server = home.serve().await;
    let (chat, other) = (server.chat(json!({})).await, server.chat(json!({})).await);
    let large = [pixel(), vec![0; 5 << 20]].concat();
    for (media_type, bytes, expected, code) in [
        ("image/png", b"<svg onload=alert(1)>".to_vec(), StatusCode::UNPROCESSABLE_ENTITY, "VALIDATION_FAILED"),
        ("application/octet-stream", pixel(), StatusCode::UNSUPPORTED_MEDIA_TYPE, "UNSUPPORTED_MEDIA_TYPE"),
        ("image/png", large, StatusCode::PAYLOAD_TOO_LARGE, "TOO_LARGE"),
        ("image/png", Vec::new(), StatusCode::UNPROCESSABLE_ENTITY, "VALIDATION_FAILED"),
    ] {
        let (status, answer) = upload(&chat, media_type, bytes).await;
        assert_eq!((status, &answer["error"]["code"]), (expected, &json!(code)), "{answer}");
    }
    let (_, image) = upload(&chat, "image/png", pixel()).await;
    let body = json!({ "content": "Look", "images": [image["id"]] });
    let (status, answer) = server.post(&format!("{}/messages", other.path), body).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains("Upload it first"), "{answer}");
    let path = format!("{}/images/{}", other.path, image["id"].as_str().unwrap());
    assert_eq!(fetch(&server, &path).await.status(), StatusCode::NOT_FOUND);
    let many = json!({ "content": "Look", "images": vec![image["id"].clone(); 9] });
    let (status, answer) = server.post(&format!("{}/messages", chat.path), many).await;
    assert_eq!(
        (status, &answer["error"]["details"]["fields"]["images"].is_string()),
        (StatusCode::UNPROCESSABLE_ENTITY, &true),
        "{answer}"
    );
}

#[tokio::test]
async fn a_model_that_cannot_see_gets_no_image_and_the_message_is_refused_with_the_reason() {
    let home = home(&json!({ "plan": [{ "text": "Yes." }] }));
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    let (_, image) = upload(&chat, "image/png", pixel()).await;
    let (status, answer) = server.post(&format!("{}/messages", chat.path), json!({ "content": "Look", "images": [image["id"]] })).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains("choose another model"), "{answer}");
    assert_eq!(chat.messages().await.len(), 0);
}

#[tokio::test]
async fn reasoning_is_stored_with_the_first_message_of_its_reply() {
    let home = home(&json!({ "plan": [
        { "reasoning": "Look first.", "calls": [{ "tool": "ls", "args": { "path": "/" } }] },
        { "reasoning": "Now I know.", "text": "There it is." },
        { "text": "No thought." },
    ] }));
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    chat.say("What is there?").await;
    let events = chat.run_to_end(0).await;
    chat.say("And now?").await;
    chat.run_to_end(planwright_testkit::server::last_id(&events)).await;
    let messages = chat.messages().await;
    let thoughts: Vec<(&Value, &Value)> = messages
        .iter()
        .filter(|message| message["author"] == "assistant")
        .map(|message| (&message["message_type"], &message["metadata"]["reasoning"]))
        .collect();
    assert_eq!(
        thoughts,
        [(&json!("tool_call"), &json!("Look first.")), (&json!("text"), &json!("Now I know.")), (&json!("text"), &Value::Null)]
    );
    let path = chat.path.clone();
    server.kill().await;
    let server = home.serve().await;
    let again = server.get(&format!("{path}/snapshot")).await;
    assert_eq!(again["messages"][1]["metadata"]["reasoning"], "Look first.");
}

#[tokio::test]
async fn images_of_the_workspace_are_sent_by_their_content_and_can_run_nothing() {
    let home = home(&json!({ "turns": [{ "text": "Yes." }] }));
    std::fs::write(home.workspace().join("shot.png"), pixel()).unwrap();
    home.put("page.png", "<script>alert(1)</script>");
    home.put("drawing.svg", "<svg xmlns='http://www.w3.org/2000/svg'/>");
    let server = home.serve().await;
    let workspace = server.get("/workspaces").await[0]["id"].as_str().unwrap().to_owned();
    let path = |file: &str| format!("/workspaces/{workspace}/files/image?path={file}");
    let shown = fetch(&server, &path("/shot.png")).await;
    check_image_headers(&shown);
    assert_eq!(shown.bytes().await.unwrap(), pixel());
    for (file, expected) in [
        ("/page.png", StatusCode::UNSUPPORTED_MEDIA_TYPE),
        ("/drawing.svg", StatusCode::UNSUPPORTED_MEDIA_TYPE),
        ("/none.png", StatusCode::NOT_FOUND),
        ("/../shot.png", StatusCode::UNPROCESSABLE_ENTITY),
    ] {
        let (status, answer) = server.request(Method::GET, &path(file), None).await;
        assert_eq!(status, expected, "{file}: {answer}");
    }
}
