use super::{bare, quiet_home};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

#[tokio::test]
async fn every_field_that_does_not_fit_is_named_and_nothing_is_changed() {
    let home = quiet_home();
    let server = home.serve().await;
    let chat = server.chat(json!({ "title": "Before" })).await;
    for (body, fields) in [
        (json!({ "title": 7, "confirm": "yes", "mode": [] }), &["confirm", "mode", "title"][..]),
        (json!({ "title": "After", "confrim": true }), &["confrim"]),
        (json!({ "title": "After", "mode": "yolo" }), &["mode"]),
        (json!({ "title": "After", "plan_file": "/src/main.rs" }), &["plan_file"]),
        (json!({ "title": "After", "plan_file": "../up.plan" }), &["plan_file"]),
    ] {
        let (status, answer) = chat.patch(body.clone()).await;
        assert_eq!((status, &answer["error"]["code"]), (StatusCode::UNPROCESSABLE_ENTITY, &json!("VALIDATION_FAILED")), "{body}: {answer}");
        let named: Vec<&String> = answer["error"]["details"]["fields"].as_object().unwrap().keys().collect();
        assert_eq!(named, fields, "{body}: {answer}");
    }
    let (status, answer) = server.post(&format!("{}/revert", chat.path), json!({ "preview": 1 })).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    let fields = &answer["error"]["details"]["fields"];
    assert!(fields["preview"].is_string(), "{answer}");
    assert_eq!(chat.show().await["title"], "Before");
}

#[tokio::test]
async fn pages_of_no_size_are_refused_and_large_ones_are_cut() {
    let home = quiet_home();
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    chat.say("Hi").await;
    for list in [format!("{}/messages", chat.path), "/audit".to_owned()] {
        for (query, field) in [("limit=0", "limit"), ("limit=-1", "limit"), ("limit=ten", "limit"), ("limit=1&limit=2", "limit")] {
            let (status, answer) = server.request(Method::GET, &format!("{list}?{query}"), None).await;
            assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{list}?{query}");
            assert!(answer["error"]["details"]["fields"][field].is_string(), "{list}?{query}: {answer}");
        }
        assert!(!server.get(&format!("{list}?limit=100000")).await.as_array().unwrap().is_empty());
    }
    let (status, answer) = server.request(Method::GET, &format!("{}/messages?before=yesterday", chat.path), None).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(answer["error"]["details"]["fields"]["before"].is_string(), "{answer}");
}

#[tokio::test]
async fn what_is_no_json_object_is_told_so_in_json() {
    let home = quiet_home();
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    let path = format!("/api/v1{}/messages", chat.path);
    for (kind, body, status, code) in [
        ("application/json", "", 400, "VALIDATION_FAILED"),
        ("application/json", "{\"content\":", 400, "VALIDATION_FAILED"),
        ("application/json", "{\"content\": \"a\", \"content\": \"b\"}", 400, "VALIDATION_FAILED"),
        ("application/json", "[]", 422, "VALIDATION_FAILED"),
        ("application/json; charset=utf-8", "{\"content\": 7}", 422, "VALIDATION_FAILED"),
        ("text/plain", "{\"content\": \"a\"}", 415, "UNSUPPORTED_MEDIA_TYPE"),
        ("application/x-www-form-urlencoded", "content=a", 415, "UNSUPPORTED_MEDIA_TYPE"),
    ] {
        let request = bare(&server, "post", &path).bearer_auth(&server.token).header("content-type", kind).body(body);
        let response = server.send(request).await;
        assert_eq!(response.status().as_u16(), status, "{kind} {body}");
        assert_eq!(response.headers()["content-type"], "application/json");
        let answer: Value = response.json().await.unwrap();
        assert_eq!(answer["error"]["code"], code, "{kind} {body}: {answer}");
    }
    assert!(chat.messages().await.is_empty());
}

#[tokio::test]
async fn unknown_addresses_and_methods_are_told_in_json_and_which_methods_there_are() {
    let home = quiet_home();
    let server = home.serve().await;
    for (method, path, status, allowed) in [
        ("delete", "/api/v1/me", 405, Some("GET,HEAD")),
        ("put", "/api/v1/workspaces", 405, Some("GET,HEAD,POST")),
        ("post", "/healthz", 405, Some("GET,HEAD")),
        ("get", "/nowhere", 404, None),
        ("get", "/api/v1/nowhere", 404, None),
        ("get", "/assets/../Cargo.toml", 404, None),
        ("get", "/api/v1/workspaces/no-uuid", 404, None),
    ] {
        let response = server.send(bare(&server, method, path).bearer_auth(&server.token)).await;
        assert_eq!(response.status().as_u16(), status, "{method} {path}");
        assert_eq!(response.headers().get("allow").map(|value| value.to_str().unwrap()), allowed, "{method} {path}");
        let answer: Value = response.json().await.unwrap();
        assert!(answer["error"]["message"].as_str().unwrap().len() > 10, "{method} {path}");
    }
}
